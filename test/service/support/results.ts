/** Results as a client has them, from the messages of the wire. */
import type { FlightClient } from '@svc/flight';
import { type Table, tableFromIPC } from 'apache-arrow';

interface IpcMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Plans and reads a statement to its end. */
export async function query(client: FlightClient, sql: string): Promise<Table> {
  const { tickets } = await client.planStatement(sql);
  return await readTicket(client, tickets[0]);
}

export async function readTicket(client: FlightClient, ticket: Uint8Array | undefined): Promise<Table> {
  if (ticket === undefined) throw new TypeError('The plan has no ticket.');
  const messages: IpcMessage[] = [];
  for await (const message of client.read(ticket)) messages.push(message);
  return tableOf(messages);
}

/** The rows of a statement, in its order, as arrays of values. */
export async function rows(client: FlightClient, sql: string): Promise<readonly (readonly unknown[])[]> {
  return rowsOf(await query(client, sql));
}

/** The first value of the first row. */
export async function value(client: FlightClient, sql: string): Promise<unknown> {
  return (await rows(client, sql))[0]?.[0];
}

export function rowsOf(table: Table): readonly (readonly unknown[])[] {
  const columns = table.schema.fields.map((_field, index) => table.getChildAt(index));
  return Array.from({ length: table.numRows }, (_none, row) =>
    columns.map((column): unknown => column?.get(row) ?? null),
  );
}

export function tableOf(messages: readonly IpcMessage[]): Table {
  return tableFromIPC(Buffer.concat(messages.flatMap(({ header, body }) => [framed(header), body])));
}

/** The schema message of a result in the form that GetFlightInfo has it. */
export function framed(header: Uint8Array): Uint8Array {
  const padded = Math.ceil(header.length / 8) * 8;
  const bytes = Buffer.alloc(8 + padded);
  bytes.writeUInt32LE(0xffffffff, 0);
  bytes.writeUInt32LE(padded, 4);
  bytes.set(header, 8);
  return bytes;
}
