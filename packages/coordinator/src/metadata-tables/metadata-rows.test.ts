import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cell, createMetadataFiles, type IcebergType, type MetadataTable } from '@svc/lake';
import { tableFromIPC } from 'apache-arrow';
import { metadataRows } from './metadata-rows.js';

const string: IcebergType = { kind: 'string' };
const list: IcebergType = { kind: 'list', elementId: 0, elementRequired: false, element: string };
const map: IcebergType = {
  ...{ kind: 'map', keyId: 0, key: { kind: 'int' }, valueId: 0, valueRequired: false },
  value: { kind: 'long' },
};
const struct: IcebergType = {
  kind: 'struct',
  fields: [
    { id: 0, name: 'a', required: false, type: { kind: 'decimal', precision: 38, scale: 2 } },
    { id: 0, name: 'b', required: false, type: list },
  ],
};

describe('rows of metadata tables', () => {
  it('keep every value of every type, NULLs within nested ones too', async () => {
    const cells: readonly (readonly [type: IcebergType, cell: Cell, shown: string])[] = [
      [{ kind: 'boolean' }, true, 'true'],
      [{ kind: 'int' }, -5, '-5'],
      [{ kind: 'long' }, -9_007_199_254_740_993n, '-9007199254740993'],
      [{ kind: 'long' }, 7, '7'],
      [{ kind: 'double' }, 0.5, '0.5'],
      [string, 'ü', '"ü"'],
      [{ kind: 'uuid' }, Buffer.alloc(16, 0x11), '"11111111-1111-1111-1111-111111111111"'],
      [{ kind: 'binary' }, Buffer.from([1, 2]), '1,2'],
      [{ kind: 'timestamptz_ns' }, -1n, '-1'],
      [list, ['x', null], '["x",null]'],
      [
        map,
        new Map<number, Cell>([
          [1, 2n],
          [3, null],
        ]),
        '{"1":2,"3":null}',
      ],
      [struct, [-150n, ['y']], '{"a":"\\"-150\\"","b":["y"]}'],
      [struct, [null, null], '{"a":null,"b":null}'],
    ];
    for (const [type, cell, shown] of cells) {
      const bytes = await rowsOf(tableOf(type, [[null], [cell], [null]]), 2 ** 20);
      const column = tableFromIPC(bytes).getChildAt(0);
      assert.deepEqual([column?.get(0), column?.get(2), column?.nullCount], [null, null, 2], type.kind);
      const value: unknown = type.kind === 'timestamptz_ns' ? column?.data[0]?.values[1] : column?.get(1);
      assert.equal(textOf(value), shown, type.kind);
    }
  });

  it('are refused by name when they take more than they may', async () => {
    const rows = Array.from({ length: 5000 }, () => ['x'.repeat(1000)]);
    await assert.rejects(rowsOf(tableOf(string, rows), 2 ** 20), {
      code: 'RESULT_TOO_LARGE',
      message: /^The rows of lake\.s\.t\$files take more than 1048576 bytes/,
    });
    assert.equal(tableFromIPC(await rowsOf(tableOf(string, rows), 2 ** 23)).numRows, 5000);
  });
});

function tableOf(type: IcebergType, rows: readonly (readonly Cell[])[]): MetadataTable {
  return {
    fields: [{ id: 1, name: 'c', required: false, type }],
    async *rows() {
      yield rows;
    },
  };
}

function rowsOf(table: MetadataTable, maxBytes: number): Promise<Uint8Array> {
  return metadataRows(table, {
    name: 'lake.s.t$files',
    request: { columns: undefined, filters: [] },
    files: createMetadataFiles(0),
    signal: new AbortController().signal,
    maxBytes,
  });
}

/** Integers of any size as their digits; apache-arrow has decimals within structs as texts of their unscaled number. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return [...value].join();
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item))
    : String(value);
}
