import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrimitiveType } from '../iceberg/spec/type-text.js';
import type { Comparable } from '../iceberg/spec/values.js';
import { fileBound } from './column-bounds.js';

type Case = readonly [
  what: string,
  type: string,
  Comparable,
  lower: string | undefined,
  upper: string | undefined,
];

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const seventeen = 'abcdefghijklmnopq';

/** Lower and upper bound, in hexadecimal, of a column with the one value, cut to 16. */
const cases: readonly Case[] = [
  ['short text as it is', 'string', utf8('é😀'), hexOf('é😀'), hexOf('é😀')],
  [
    'sixteen characters as they are',
    'string',
    utf8('☃'.repeat(16)),
    hexOf('☃'.repeat(16)),
    hexOf('☃'.repeat(16)),
  ],
  [
    'text raised by one code point',
    'string',
    utf8(seventeen),
    hexOf('abcdefghijklmnop'),
    hexOf('abcdefghijklmnoq'),
  ],
  [
    'text over the gap of the surrogates',
    'string',
    utf8(`${'a'.repeat(15)}\ud7ffx`),
    hexOf(`${'a'.repeat(15)}\ud7ff`),
    hexOf(`${'a'.repeat(15)}\ue000`),
  ],
  [
    'text whose last character is the greatest',
    'string',
    utf8(`${'a'.repeat(15)}\u{10ffff}x`),
    hexOf(`${'a'.repeat(15)}\u{10ffff}`),
    hexOf(`${'a'.repeat(14)}b`),
  ],
  [
    'text of the greatest characters',
    'string',
    utf8('\u{10ffff}'.repeat(17)),
    hexOf('\u{10ffff}'.repeat(16)),
    undefined,
  ],
  ['text cut within a character', 'string', utf8('aé').subarray(0, 2), hexOf('a'), hexOf('b')],
  ['what is no text', 'string', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff), undefined, undefined],
  ['binary raised by one byte', 'binary', Buffer.alloc(17, 1), '01'.repeat(16), `${'01'.repeat(15)}02`],
  [
    'binary whose last byte is the greatest',
    'binary',
    Buffer.concat([Buffer.alloc(15, 1), Buffer.alloc(3, 0xff)]),
    `${'01'.repeat(15)}ff`,
    `${'01'.repeat(14)}02`,
  ],
  ['binary of the greatest bytes', 'binary', Buffer.alloc(17, 0xff), 'ff'.repeat(16), undefined],
  ['fixed like binary', 'fixed[20]', Buffer.alloc(20, 7), '07'.repeat(16), `${'07'.repeat(15)}08`],
  ['a uuid whole', 'uuid', Buffer.alloc(16, 9), '09'.repeat(16), '09'.repeat(16)],
  ['decimals in the fewest bytes', 'decimal(9, 2)', 1420n, '058c', '058c'],
  ['negative decimals in the fewest bytes', 'decimal(38, 0)', -129n, 'ff7f', 'ff7f'],
  ['zero as both zeros', 'double', 0, '0000000000000080', '0000000000000000'],
  ['negative zero as both zeros', 'float', -0, '00000080', '00000000'],
  ['booleans', 'boolean', 1, '01', '01'],
  ['dates', 'date', -1, 'ffffffff', 'ffffffff'],
  ['timestamps', 'timestamptz', -1n, 'ffffffffffffffff', 'ffffffffffffffff'],
  ['longs from smaller integers', 'long', 5n, '0500000000000000', '0500000000000000'],
  ['NaN never', 'double', Number.NaN, undefined, undefined],
];

for (const [what, text, value, lower, upper] of cases)
  test(`bounds: ${what}`, () => {
    const type = parsePrimitiveType(text);
    assert.ok(type);
    const bound = (side: 'lower' | 'upper') => {
      const bytes = fileBound(type, side, [value], 16);
      return bytes && Buffer.from(bytes).toString('hex');
    };
    assert.deepEqual([bound('lower'), bound('upper')], [lower, upper]);
  });

test('bounds are the extremes of all chunks, and unknown when one of them is', () => {
  const type = { kind: 'int' } as const;
  const lower = fileBound(type, 'lower', [3, -7, 5], 16);
  assert.equal(Buffer.from(lower ?? []).toString('hex'), 'f9ffffff');
  assert.equal(fileBound(type, 'upper', [3, undefined], 16), undefined);
  assert.equal(fileBound(type, 'upper', [], 16), undefined);
});

test('bounds are whole when nothing is to be cut', () => {
  const long = utf8('x'.repeat(1000));
  assert.equal(fileBound({ kind: 'string' }, 'upper', [long], Number.POSITIVE_INFINITY)?.length, 1000);
});
