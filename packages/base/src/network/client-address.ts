import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Who calls: from the address of the connection's other end, and the `X-Forwarded-For` header, if there is one. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string;

/** More proxies than that are not between anybody and us. */
const maxHops = 32;
/** An address in brackets with a zone and a port is shorter. */
const maxAddressLength = 100;

/**
 * The header is believed where a trusted proxy wrote it: from its end, as far as trusted proxies lead. The client is the
 * first address on that way that is none of them. Behind an entry that is no address, and beyond 32 of them, nothing is
 * looked at: the client is then the last proxy that was. IPv4 addresses have one form, also inside of IPv6.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const ranges = trustedProxies.map((text) =>
    text.includes('/') ? ipaddr.parseCIDR(text) : ipaddr.parseCIDR(`${text}/${isIP(text) === 4 ? 32 : 128}`),
  );
  const isTrusted = (address: string): boolean => {
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits));
  };
  return (peer, forwardedFor) => {
    let client = addressIn(peer);
    if (client === undefined) return peer;
    if (forwardedFor === undefined) return client;
    let end = forwardedFor.length;
    for (let hop = 0; hop < maxHops && end > 0 && isTrusted(client); hop += 1) {
      const comma = forwardedFor.lastIndexOf(',', end - 1);
      const isAddress = end - comma <= maxAddressLength;
      const next = isAddress ? addressIn(forwardedFor.slice(comma + 1, end)) : undefined;
      if (next === undefined) break;
      client = next;
      end = comma;
    }
    return client;
  };
}

/** `192.0.2.7`, `192.0.2.7:443`, `2001:db8::7`, `[2001:db8::7]`, `[2001:db8::7]:443`; undefined for anything else. */
function addressIn(text: string): string | undefined {
  const trimmed = text.trim();
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed) ?? [];
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(trimmed) ?? [];
  const address = bracketed ?? withPort ?? trimmed;
  if (isIP(address) === 0 || (bracketed !== undefined && isIP(address) !== 6)) return undefined;
  return ipaddr.process(address).toString();
}
