import type { Difference } from './two-worlds.js';

const shown = 240;

/** A leak for whoever mends it: what was tried, and where the answers part. */
export function differenceText({ schema, attack, call, quiet, loud }: Difference): string {
  const [one, other] =
    quiet.said === loud.said ? [`bytes ${quiet.bytes}`, `bytes ${loud.bytes}`] : [quiet.said, loud.said];
  const from = Math.max(0, firstDifference(one, other) - shown / 4);
  return [
    `${attack} (${schema})`,
    `  ${call}`,
    `  quiet: ${one.slice(from, from + shown)}`,
    `  loud:  ${other.slice(from, from + shown)}`,
  ].join('\n');
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
