import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { ClientAddress } from '@svc/base';
import type { CallContext } from '../backend.js';

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

export interface ConnectionFacts {
  readonly isTls: boolean;
  readonly tlsTerminatedUpstream: boolean;
  readonly clientAddress: ClientAddress;
}

/** What the backend may know of a call. */
export function describeCall(
  call: ServerInterceptingCallInterface,
  metadata: Metadata,
  connection: ConnectionFacts,
  controller: AbortController,
): CallContext {
  const peer = addressOf(call.getPeer());
  const forwardedFor = metadata.get('x-forwarded-for');
  return {
    /** Made when it is first asked for: many a call has nothing to end early. */
    get signal() {
      return controller.signal;
    },
    clientAddress: connection.clientAddress(
      peer,
      forwardedFor.length === 0 ? undefined : forwardedFor.join(', '),
    ),
    headers: textHeaders(metadata),
    // Of the connection itself, whatever its headers say.
    isConfidential: connection.isTls || connection.tlsTerminatedUpstream || isLoopback(peer),
  };
}

/** `address:port` without the port; IPv4 in its own notation also when it came through a dual-stack socket. */
function addressOf(peer: string): string {
  const colon = peer.lastIndexOf(':');
  const address = colon < 0 ? peer : peer.slice(0, colon);
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);
}

function textHeaders(metadata: Metadata): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const name of Object.keys(metadata.getMap())) {
    if (name.endsWith('-bin') || secretHeaders.has(name)) continue;
    headers.set(name, metadata.get(name).join(', '));
  }
  return headers;
}
