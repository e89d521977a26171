import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/**
 * The user as the limits see it. A provider may take many spellings for one user: upper and lower case, full-width and
 * composed letters, characters that are not seen, spaces around and between. All of them are one, so that none gets a
 * count of its own. Hashed, so that its length is no one's to choose.
 */
export function userKey(username: string): string {
  const plain = username
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toUpperCase()
    .toLowerCase();
  return hash('sha256', plain.normalize('NFKC'), 'base64');
}

/** The address as the limits see it: of IPv6 the /64 network, since whoever has one address there has all of them. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString();
}
