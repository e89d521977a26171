import type { Attack } from '../support/attack.js';
import { joinAttacks } from './joins.js';
import { maskAttacks } from './masks.js';
import { metadataAttacks } from './metadata.js';
import { predicateAttacks } from './predicates.js';
import { sealedAttacks, wideAttacks } from './sealed.js';
import { shapeAttacks } from './shapes.js';
import { travelAttacks } from './travel.js';
import { writeAttacks } from './writes.js';

/** Those that write stand last: what they leave is there in both worlds. */
export const allAttacks: readonly (readonly [group: string, attacks: readonly Attack[]])[] = [
  ['joins', joinAttacks],
  ['predicates', predicateAttacks],
  ['shapes', shapeAttacks],
  ['masks', maskAttacks],
  ['metadata', metadataAttacks],
  ['times, names and parameters', travelAttacks],
  ['schemas and views', sealedAttacks],
  ['large tables and first commits', wideAttacks],
  ['writes and rules', writeAttacks],
];
