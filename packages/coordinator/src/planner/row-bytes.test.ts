import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FragmentScan } from '@svc/fragment-fn';
import type { IcebergType } from '@svc/lake';
import { rowBytes } from './row-bytes.js';

function scanOf(types: Readonly<Record<string, IcebergType>>, rowsPlanned: number): FragmentScan {
  const columns = Object.entries(types).map(([name, type], id) => ({ id, name, type, required: false }));
  return { scan: { columns, counts: { rowsPlanned } } } as unknown as FragmentScan;
}

test('rows are as wide as the columns that are read', () => {
  const scan = scanOf(
    {
      id: { kind: 'long' },
      price: { kind: 'decimal', precision: 15, scale: 2 },
      Day: { kind: 'date' },
      note: { kind: 'string' },
      flag: { kind: 'boolean' },
      code: { kind: 'fixed', length: 3 },
      tags: { kind: 'list', elementId: 9, elementRequired: false, element: { kind: 'int' } },
    },
    10,
  );
  assert.equal(rowBytes(scan, [['id'], ['price']]), 240);
  assert.equal(rowBytes(scan, [['DAY']]), 40);
  assert.equal(rowBytes(scan, [['tags'], ['flag'], ['code']]), 200);
  assert.equal(rowBytes(scan, undefined), 10 * (8 + 16 + 4 + 24 + 1 + 3 + 16));
  assert.equal(rowBytes(scan, []), 0);
});
