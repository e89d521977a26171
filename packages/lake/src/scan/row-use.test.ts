import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../iceberg/testing/seeded-random.js';
import { type BoundRows, mayHaveTop, type RowFacts, unitsOfFirst } from './row-use.js';

const field = { id: 1, type: { kind: 'int' } } as const;
const seed = 20_261_122;

test('rows are counted until there are enough, and only those that are kept for certain', () => {
  const unit = (rowCount: number, isKeptWhole: boolean): RowFacts => ({
    rowCount,
    isKeptWhole,
    columns: [],
  });
  const units = [unit(5, true), unit(100, false), unit(5, true), unit(5, true)];
  assert.deepEqual(
    [0, 1, 5, 6, 10, 11, 16].map((rowCount) => unitsOfFirst(units, rowCount)),
    [0, 1, 1, 3, 3, 4, 4],
  );
});

test(`no unit with one of the first rows is left out (seed ${seed})`, () => {
  const random = seededRandom(seed).next;
  let leftOut = 0;
  for (let round = 0; round < 3000; round++) {
    const top: Extract<BoundRows, { kind: 'top' }> = {
      kind: 'top',
      field,
      rowCount: 1 + Math.floor(random() * 12),
      descending: random() < 0.5,
      nullsFirst: random() < 0.5,
    };
    const units = Array.from({ length: 6 }, () => randomRows(random));
    const isKept = mayHaveTop(
      units.map((rows) => describe(rows, random)),
      { fields: [field] },
      top,
    );
    leftOut += isKept.filter((kept) => !kept).length;
    const last = firstRows(units.flat(), top).at(-1);
    for (const [index, rows] of units.entries())
      for (const row of rows)
        if (row.isWanted && (last === undefined || compareRows(row, last, top) <= 0))
          assert.ok(isKept[index], `round ${round}: a row of ${row.value}, at the end ${last?.value}`);
  }
  assert.ok(leftOut > 1000, `${leftOut} units left out`);
});

interface Row {
  readonly value: number | null;
  /** Whether the statement's filters keep it. */
  readonly isWanted: boolean;
}

/** Values near one another, so that there are ties. */
function randomRows(random: () => number): readonly Row[] {
  const [base, nulls, unwanted] = [Math.floor(random() * 20), random() * 0.7, random() < 0.7 ? 0 : 0.5];
  return Array.from({ length: 1 + Math.floor(random() * 6) }, () => ({
    value: random() < nulls ? null : base + Math.floor(random() * 5),
    isWanted: random() >= unwanted,
  }));
}

/** Bounds may be wider than the values, and anything may be unknown. */
function describe(rows: readonly Row[], random: () => number): RowFacts {
  const values = rows.flatMap(({ value }) => (value === null ? [] : [value]));
  const nullCount = rows.length - values.length;
  const wider = () => (random() < 0.2 ? 1 : 0);
  const known = () => values.length > 0 && random() < 0.9;
  const summary = {
    lower: known() ? Math.min(...values) - wider() : undefined,
    upper: known() ? Math.max(...values) + wider() : undefined,
    mayHaveNull: nullCount > 0 || random() < 0.2,
    mayHaveNaN: false,
    mayHaveValue: values.length > 0 || random() < 0.2,
  };
  const facts = { summary, nullCount: random() < 0.9 ? nullCount : undefined, isExact: false };
  return {
    rowCount: rows.length,
    isKeptWhole: rows.every(({ isWanted }) => isWanted) && random() < 0.9,
    columns: [random() < 0.95 ? facts : undefined],
  };
}

type Top = Extract<BoundRows, { kind: 'top' }>;

/** Undefined at the end when there are fewer. */
function firstRows(rows: readonly Row[], top: Top): readonly (Row | undefined)[] {
  const sorted = rows.filter(({ isWanted }) => isWanted).sort((a, b) => compareRows(a, b, top));
  return Array.from({ length: top.rowCount }, (_none, index) => sorted[index]);
}

function compareRows(a: Row, b: Row, { descending, nullsFirst }: Top): number {
  if (a.value === null || b.value === null)
    return (Number(b.value === null) - Number(a.value === null)) * (nullsFirst ? 1 : -1);
  return (a.value - b.value) * (descending ? -1 : 1);
}
