import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SeededRandom, seededRandom } from '../iceberg/testing/seeded-random.js';
import { storeWith } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import type { AppliedDeletes, DeleteSet, FileScan, TableScan } from '../scan/table-scan.js';
import { selectionBytes } from './compact-layout.js';
import { divideScan } from './divide-scan.js';

const location = 'rows.parquet';
const columnNames = ['id', 'name', 'tags'];
const store = storeWith(location);
const footers = createFooterCache({ maxBytes: 1 << 20 });
const info = await store.head(location);
const footer = await footers.get(store, info);
const bytesOf = (rowGroups: readonly number[]) => selectionBytes(footer, { rowGroups, columns: columnNames });
const allGroups = [...footer.rowCounts.keys()];

type Random = SeededRandom;

/** The same file at several places of the scan stands for several files, told apart by their origin. */
function randomScan(random: Random): TableScan {
  const { below } = random;
  const sets = Array.from({ length: below(4) }, (_, index) => ({
    ...{ kind: 'positions' as const, isScoped: false, keys: [], groups: [] },
    name: index,
  }));
  let fileNumber = 0;
  const groups = Array.from({ length: below(4) }, () => {
    const deletes = sets.flatMap((_set, set): AppliedDeletes[] =>
      random.next() < 0.5 ? [{ set, sources: [] }] : [],
    );
    return {
      sources: [],
      files: Array.from({ length: 1 + below(4) }, (): FileScan => {
        const picked = allGroups.filter(() => random.next() < 0.6);
        const rowGroups = random.next() < 0.3 || picked.length === 0 ? undefined : picked;
        return {
          ...{ ...info, recordCount: 400, rowGroups, columnNames },
          selectedBytes: bytesOf(rowGroups ?? allGroups),
          origin: { sequenceNumber: BigInt(fileNumber++), partition: 0, firstRowId: null },
          ...(random.next() < 0.3 && { deletedRows: { bitmap: new Uint8Array([fileNumber]) } as never }),
        };
      }),
      ...(deletes.length > 0 && { deletes }),
    };
  });
  return {
    groups,
    ...(sets.length > 0 && { deletes: sets as readonly DeleteSet[] }),
    ...(random.next() < 0.4 && { counted: { rowCount: 7, low: [], high: [] } }),
    counts: { rowGroupsPlanned: 5 },
  } as unknown as TableScan;
}

/** What must be the same whatever the splits: of each row group of each file, what is known of its rows. */
function rowsOf(scan: TableScan): readonly string[] {
  return scan.groups.flatMap((group) =>
    group.files.flatMap((file) =>
      (file.rowGroups ?? allGroups).map((rowGroup) =>
        JSON.stringify([
          Number(file.origin?.sequenceNumber),
          rowGroup,
          file.deletedRows ?? null,
          (group.deletes ?? []).map(
            ({ set }) => (scan.deletes?.[set] as { name?: number } | undefined)?.name,
          ),
        ]),
      ),
    ),
  );
}

test('splits have each row once, with what deletes it, and are as large as they may be', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seededRandom(seed);
    const scan = randomScan(random);
    const targetBytes = 1 + random.below(bytesOf(allGroups) * 3);
    const splits = await divideScan(scan, { targetBytes, store, footers });
    const context = `seed ${seed}`;
    assert.deepEqual(splits.flatMap(rowsOf), rowsOf(scan), context);
    assert.equal(splits.filter(({ counted }) => counted !== undefined).length, scan.counted ? 1 : 0, context);
    const sum = (parts: readonly TableScan[]) =>
      parts
        .flatMap(({ groups }) => groups.flatMap(({ files }) => files))
        .reduce((total, file) => total + file.selectedBytes, 0);
    assert.equal(sum(splits), sum([scan]), context);
    for (const split of splits) {
      const pieces = split.groups.flatMap(({ files }) => files);
      assert.ok(sum([split]) <= targetBytes || pieces.length === 1, context);
      if (sum([split]) > targetBytes) assert.equal(pieces[0]?.rowGroups?.length, 1, context);
      const used = new Set(split.groups.flatMap(({ deletes = [] }) => deletes.map(({ set }) => set)));
      assert.equal(split.deletes?.length ?? 0, used.size, context);
    }
  }
});

test('a table without rows is one split without files', async () => {
  const scan = { groups: [], counts: {} } as unknown as TableScan;
  const splits = await divideScan(scan, { targetBytes: 1, store: undefined, footers });
  assert.deepEqual(splits, [{ groups: [], counts: {} }]);
});
