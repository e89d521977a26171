import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparisonOperator } from '@svc/sql';
import { type Comparable, compareValues, isNaNValue } from '../spec/values.js';
import { type ColumnPredicate, type ColumnSummary, predicateMightHold } from './column-predicate.js';

type Value = Comparable | null;

const operators: readonly ComparisonOperator[] = ['=', '<>', '<', '<=', '>', '>='];
const numbers: readonly Value[] = [null, Number.NaN, Number.NEGATIVE_INFINITY, -0, 1, 2];
const texts: readonly Value[] = [
  null,
  ...['', 'a', 'ab', 'abc', 'b', '\xff'].map((text) => Buffer.from(text, 'latin1')),
];

/** Every set of values there can be, every predicate: with exact statistics the answer is exact. */
for (const [kind, domain] of [
  ['numbers', numbers],
  ['texts', texts],
] as const)
  test(`keeps every file of ${kind} that has a match, and only a few more`, () => {
    let [kept, needed] = [0, 0];
    for (const values of subsets(domain))
      for (const predicate of predicatesOver(domain)) {
        const isNeeded = values.some((value) => holds(predicate, value));
        const isKept = predicateMightHold(predicate, summarise(values));
        if (isNeeded) assert.ok(isKept, `${print(predicate)} on ${print(values)}`);
        kept += Number(isKept);
        needed += Number(isNeeded);
      }
    assert.ok(kept < needed * 1.25, `${kept} kept, ${needed} needed`);
  });

test('keeps the file whatever part of the statistics is missing', () => {
  for (const values of subsets(numbers))
    for (const predicate of predicatesOver(numbers)) {
      if (!values.some((value) => holds(predicate, value))) continue;
      const known = summarise(values);
      const unknown: ColumnSummary = {
        lower: undefined,
        upper: undefined,
        mayHaveNull: true,
        mayHaveNaN: true,
        mayHaveValue: true,
      };
      for (const key of ['lower', 'upper', 'mayHaveNull', 'mayHaveNaN', 'mayHaveValue'] as const)
        assert.ok(
          predicateMightHold(predicate, { ...known, [key]: unknown[key] }),
          `${print(predicate)} without ${key}`,
        );
    }
});

test('a prefix is found between bounds that are cut', () => {
  const summary = {
    ...summarise([]),
    mayHaveValue: true,
    lower: Buffer.from('ab'),
    upper: Buffer.from('ad'),
  };
  const mightStart = (prefix: string) =>
    predicateMightHold({ kind: 'starts-with', prefix: Buffer.from(prefix) }, summary);
  for (const prefix of ['a', 'ab', 'abzzzz', 'ac', 'acdc', 'ad']) assert.ok(mightStart(prefix), prefix);
  for (const prefix of ['aa', 'aaz', 'ae', 'ada', 'b', 'A']) assert.ok(!mightStart(prefix), prefix);
});

test('a list is searched, not walked: a million values, one of them between the bounds', () => {
  const values = Array.from({ length: 1_000_000 }, (_unused, index) => BigInt(index) * 10n);
  const bounds = (lower: bigint, upper: bigint) => ({ ...summarise([lower]), lower, upper });
  assert.ok(predicateMightHold({ kind: 'in', values }, bounds(777_765n, 777_775n)));
  assert.ok(!predicateMightHold({ kind: 'in', values }, bounds(777_771n, 777_779n)));
  assert.ok(!predicateMightHold({ kind: 'in', values }, bounds(10_000_000n, 10_000_001n)));
});

function* subsets(domain: readonly Value[]): Generator<readonly Value[]> {
  for (let mask = 1; mask < 2 ** domain.length; mask++)
    yield domain.filter((_value, index) => (mask >> index) & 1);
}

function* predicatesOver(domain: readonly Value[]): Generator<ColumnPredicate> {
  yield { kind: 'is-null' };
  yield { kind: 'is-not-null' };
  const literals = domain.filter((value) => value !== null);
  for (const value of literals) for (const operator of operators) yield { kind: 'compare', operator, value };
  for (const first of literals)
    for (const second of literals)
      if (compareValues(first, second) < 0) yield { kind: 'in', values: [first, second] };
  for (const prefix of literals) if (prefix instanceof Uint8Array) yield { kind: 'starts-with', prefix };
}

function holds(predicate: ColumnPredicate, value: Value): boolean {
  if (value === null) return predicate.kind === 'is-null';
  switch (predicate.kind) {
    case 'is-null':
      return false;
    case 'is-not-null':
      return true;
    case 'starts-with':
      return value instanceof Uint8Array && Buffer.from(value).indexOf(predicate.prefix) === 0;
    case 'in':
      return predicate.values.some((each) => compareValues(value, each) === 0);
    case 'compare': {
      const order = compareValues(value, predicate.value);
      const results = {
        '=': order === 0,
        '<>': order !== 0,
        '<': order < 0,
        '<=': order <= 0,
        '>': order > 0,
        '>=': order >= 0,
      };
      return results[predicate.operator];
    }
  }
}

function summarise(values: readonly Value[]): ColumnSummary {
  const present = values.filter((value) => value !== null);
  const ordered = present.filter((value) => !isNaNValue(value)).sort(compareValues);
  return {
    lower: ordered[0],
    upper: ordered.at(-1),
    mayHaveNull: present.length < values.length,
    mayHaveNaN: ordered.length < present.length,
    mayHaveValue: present.length > 0,
  };
}

function print(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'number' ? String(each) : each));
}
