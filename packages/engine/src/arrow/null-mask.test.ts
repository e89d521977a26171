import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Data, Type, tableFromIPC } from 'apache-arrow';
import { collectResult, openTemporaryInstance } from '../testing/temporary-instance.js';
import { blankBits, blankFixed, blankTexts, maskOfRanges } from './null-mask.js';

const isShown = (bitmap: Uint8Array | undefined, row: number) =>
  bitmap === undefined || bitmap.length === 0 || (((bitmap[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

const shownIn = (data: Data) => (row: number) => isShown(data.nullBitmap, row);

/** What there is below NULLs, in an array and in what lies below it. */
function leftovers(data: Data, above: (row: number) => boolean = () => true): readonly string[] {
  const { length, values, typeId, children } = data;
  // Of types without them, it is undefined.
  const offsets: ArrayLike<number | bigint> | undefined = data.valueOffsets;
  const isOwnShown = shownIn(data);
  const shown = (row: number) => above(row) && isOwnShown(row);
  const hidden = Array.from({ length }, (_, row) => row).filter((row) => !shown(row));
  const found: string[] = [];
  const add = (row: number) => found.push(`${String(data.type)}, row ${row}`);
  if (offsets !== undefined) {
    for (const row of hidden) if (!isOwnShown(row) && offsets[row] !== offsets[row + 1]) add(row);
  } else if (typeId === Type.Bool) {
    for (const row of hidden) if (isShown(values, row)) add(row);
  } else if (ArrayBuffer.isView(values)) {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const width = widthOf(values, data);
    for (const row of hidden)
      if (bytes.subarray(row * width, (row + 1) * width).some((byte) => byte !== 0)) add(row);
  }
  const size = typeId === Type.FixedSizeList ? (children[0]?.length ?? 0) / length : 1;
  const below = (element: number) => offsets !== undefined || shown(Math.floor(element / size));
  return [...found, ...children.flatMap((child) => leftovers(child, below))];
}

/** The reader keeps padding behind the last value. */
function widthOf(values: ArrayBufferView, { stride }: Data): number {
  const element = 'BYTES_PER_ELEMENT' in values ? Number(values.BYTES_PER_ELEMENT) : 1;
  return element * stride;
}

describe('values below NULLs', () => {
  const secrets = "CREATE TABLE t AS SELECT i, 'secret' || i AS s, i::VARCHAR AS n FROM range(5000) r(i)";
  const statements = [
    'SELECT nullif(i, i) AS a, CASE WHEN i % 3 = 0 THEN i END AS b, TRY_CAST(n AS SMALLINT) AS c FROM t',
    'SELECT TRY_CAST(CASE WHEN i % 2 = 0 THEN n ELSE s END AS INTEGER) AS a, TRY_CAST(s AS DOUBLE) AS b FROM t',
    'SELECT sum(TRY_CAST(substr(s, 2) AS INTEGER)) AS a, sum(TRY_CAST(s AS HUGEINT)) AS b FROM t GROUP BY i % 7',
    'SELECT CASE WHEN i % 2 = 0 THEN i > 10 END AS a, nullif(i % 3 = 0, true) AS b FROM t',
    'SELECT nullif(s, s) AS a, CASE WHEN i % 9 = 0 THEN s END AS b, nullif([s], [s]) AS c FROM t',
    "SELECT CASE WHEN i % 2 = 0 THEN {'a': i, 'b': s, 'c': [i], 'd': i > 1} END AS a FROM t",
    'SELECT nullif([i, i + 1]::BIGINT[2], [i, i + 1]::BIGINT[2]) AS a, nullif([[s]], [[s]]) AS b FROM t',
    'SELECT unnest([array_value(i, i + 1), NULL]) AS a FROM t',
    'SELECT i::DECIMAL(30, 2) / nullif(i % 2, 0) AS a, nullif(uuid(), NULL) AS b, CASE WHEN i > 9 THEN INTERVAL (i) DAY END AS c FROM t',
  ];
  for (const sql of statements)
    it(`are zeros: ${sql}`, () => {
      using temporary = openTemporaryInstance();
      temporary.instance.execute([secrets]);
      const table = tableFromIPC(collectResult(temporary.instance, { sql }).stream);
      assert.ok(table.numRows > 0);
      for (const { name } of table.schema.fields)
        for (const data of table.getChild(name)?.data ?? []) assert.deepEqual(leftovers(data), []);
    });
});

describe('a mask', () => {
  // Of rows 0 to 9, 1 and 8 are hidden.
  const mask = { bytes: Uint8Array.of(0, 0b1111_1101, 0b10), byteOffset: 1 };

  it('blanks values of any width, and leaves what lies behind the last', () => {
    for (const width of [1, 2, 3, 4, 8, 12, 16]) {
      const bytes = new Uint8Array(16 + 12 * width).fill(7);
      blankFixed(mask, 10, bytes, 16, width);
      for (let at = 0; at < bytes.length; at++) {
        const row = Math.floor((at - 16) / width);
        assert.equal(bytes[at], row === 1 || row === 8 ? 0 : 7, `byte ${at} of width ${width}`);
      }
    }
  });

  it('blanks bits, texts, and elements of lists', () => {
    const bits = Uint8Array.of(0xff, 0xff);
    blankBits(mask, 10, bits, 0);
    assert.deepEqual([...bits], [0b1111_1101, 0b10]);
    const texts = new Uint8Array(20).fill(7);
    blankTexts(mask, 10, (row) => row * 2, texts);
    assert.deepEqual(
      [...texts].flatMap((byte, at) => (byte === 0 ? [at] : [])),
      [2, 3, 16, 17],
    );
    const elements = maskOfRanges(mask, 10, (row) => row * 2);
    assert.deepEqual(elements && [...elements.bytes], [0b1111_0011, 0xff, 0b1111_1100]);
    assert.equal(
      maskOfRanges(mask, 10, () => 0),
      undefined,
    );
  });
});
