/** From the event of an invocation to its task. Everything that does not fit is FRAGMENT_REFUSED. */
import { decodeTask, type RemoteTask } from '../wire/task-codec.js';
import { type InvocationOrder, parsePayload, parseReference, refused } from './invocation.js';
import { getObject } from './put-object.js';
import { type OpeningKeys, unpackOrder, unseal } from './sealing.js';

/** Clocks of two machines may differ by a minute. */
const clockSkewMs = 60_000;

export interface OpenedOrder {
  readonly order: InvocationOrder;
  readonly task: RemoteTask;
}

export interface OrderOpener {
  readonly keys: OpeningKeys;
  readonly functionName: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

export async function openOrder(
  event: unknown,
  { keys, functionName, nowMs }: OrderOpener,
  signal: AbortSignal,
): Promise<OpenedOrder> {
  const payload = parsePayload(event);
  const sealed =
    'sealed' in payload ? payload.sealed : await referredOrder(await unseal(payload.reference, keys), signal);
  const { order, task: bytes } = unpackOrder(await unseal(sealed, keys));
  if (order.functionName !== functionName) throw refused('it is for another function');
  if (order.notAfterMs + clockSkewMs < nowMs) throw refused('it is too old');
  const task = decodeTask(bytes);
  const { queryId, owner } = task.request;
  if (order.queryId !== queryId || order.owner !== owner) throw refused('it is of another query or user');
  return { order, task };
}

async function referredOrder(reference: Uint8Array, signal: AbortSignal): Promise<string> {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(reference).toString('utf8'));
  } catch {
    throw refused('its reference is none');
  }
  return Buffer.from(await getObject(parseReference(json), signal)).toString('latin1');
}
