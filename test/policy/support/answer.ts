/** All that a client is told by a call, in a form that two worlds are compared by. */
import { createHash } from 'node:crypto';
import { QueryError } from '@svc/base';
import { type FlightClient, type FlightQuery, splitIpcStream } from '@svc/flight';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { getTablesCommand } from '../../service/support/messages.js';
import { parameterRow } from '../../service/support/parameters.js';
import { rowsOf, tableOf } from '../../service/support/results.js';
import type { Call } from './attack.js';

/** What is equal of equal answers. */
export interface Answer {
  /** The rows as text, in their order; or what a change said; or the error, with its code. */
  readonly said: string;
  /** Digests of the schema as it was announced and of all messages as they were sent. */
  readonly bytes: string;
}

export interface AnsweringWorld {
  readonly client: FlightClient;
  readonly healthUrl: string;
  /** Replaces what only this world calls so: its snapshots. */
  readonly fill: (sql: string) => string;
  /** Replaces names that are different wherever a service runs: folders, ids. */
  readonly neutral: (text: string) => string;
  /** Another version of the same policies. */
  readonly changePolicies: () => Promise<void>;
}

export async function answer(world: AnsweringWorld, call: Call): Promise<Answer> {
  try {
    return await answerOf(world, call);
  } catch (error) {
    const { code, message } = QueryError.from(error);
    return { said: world.neutral(`${code}: ${message}`), bytes: '' };
  }
}

async function answerOf(world: AnsweringWorld, call: Call): Promise<Answer> {
  const { client, fill } = world;
  switch (call.kind) {
    case 'statement': {
      const sql = fill(call.sql);
      if (/^\s*(INSERT|CREATE|DROP|ALTER|UPDATE|DELETE|MERGE)\b/i.test(sql))
        return { said: `${await client.update(sql)} rows`, bytes: '' };
      return await read(world, await client.planStatement(sql));
    }
    case 'prepared': {
      const { handle, datasetSchema, parameterSchema } = await client.prepare(fill(call.sql));
      const bound =
        call.parameters.length === 0 ? handle : await client.bind(handle, parameterRow(call.parameters));
      const found = await read(world, await client.planPrepared(bound));
      return { ...found, bytes: `${digest([datasetSchema, parameterSchema])} ${found.bytes}` };
    }
    case 'kept-ticket': {
      const planned = await client.planStatement(fill(call.sql));
      await world.changePolicies();
      return await read(world, planned);
    }
    case 'kept-prepared': {
      const { handle } = await client.prepare(fill(call.sql));
      const before = await read(world, await client.planPrepared(handle));
      await world.changePolicies();
      const after = await read(world, await client.planPrepared(handle));
      return { said: `${before.said}\n${after.said}`, bytes: `${before.bytes}; ${after.bytes}` };
    }
    case 'ingest': {
      const rows = new Table({ id: vectorFromArray(call.ids, new Int64()) });
      const target = { table: call.table, ifNotExists: 'fail', ifExists: 'append' } as const;
      return {
        said: `${await client.ingest(target, splitIpcStream(tableToIPC(rows, 'stream')))} rows`,
        bytes: '',
      };
    }
    case 'list-tables':
      return await read(world, await client.plan(getTablesCommand({ includeSchema: true })));
    case 'fetch': {
      const response = await fetch(`${world.healthUrl}${call.path}`);
      return { said: `${response.status} ${world.neutral(await response.text())}`, bytes: '' };
    }
  }
}

async function read(
  { client, neutral }: AnsweringWorld,
  { schema, tickets, totalRecords, totalBytes }: FlightQuery,
): Promise<Answer> {
  const messages: { readonly header: Uint8Array; readonly body: Uint8Array }[] = [];
  for (const ticket of tickets) for await (const message of client.read(ticket)) messages.push(message);
  const texts = rowsOf(tableOf(messages)).map((row) => JSON.stringify(row, plain));
  const rows = texts.map(neutral);
  const sizes = messages.map(({ body }) => body.length).join(' ');
  const sent = `${sizes}: ${digest(messages.flatMap(({ header, body }) => [header, body]))}`;
  // What holds times or names of folders is other bytes each time: of these the neutral text is compared.
  const isExact = texts.every((text, index) => text === rows[index]);
  return {
    said: rows.join('\n'),
    bytes: `${digest([schema])}, ${totalRecords} rows and ${totalBytes} bytes announced; ${isExact ? sent : ''}`,
  };
}

function digest(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 16);
}

/** Without how long EXPLAIN ANALYZE took, which is all of it that may differ: a client has a clock of its own. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/\bRan in \d+\.\d ms\b/g, 'Ran in # ms');
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}
