/**
 * Tables of all shapes, by writers that the service does not know, through a REST catalog on MinIO: the service answers
 * the rows that each writer knows it wrote, and so does DuckDB's extension where it can. Run by
 * `npm run test:peers -- shapes`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { FlightClient } from '@svc/flight';
import { rows } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';
import { loadedTable, shapeOf } from '../shapes/shape-of.js';
import { type TrinoQuery, writeByTrino } from '../shapes/write-by-trino.js';

const run = promisify(execFile);
const { SVC_TEST_SHAPES = '{}' } = process.env;
const peers: {
  readonly url: string;
  readonly storage: { readonly endpoint: string };
  readonly python: string;
  readonly peersFolder: string;
  readonly classPath: string;
  /** Where `startTrino` is to be imported from. */
  readonly trinoModule: string;
} = JSON.parse(SVC_TEST_SHAPES);

interface TrinoModule {
  startTrino(
    folder: string,
    servers: { readonly catalogUrl: string; readonly storage: typeof peers.storage },
  ): Promise<{ readonly query: TrinoQuery; stop(): Promise<void> }>;
}

interface WrittenTable {
  readonly table: string;
  /** Not of a view. */
  readonly metadata?: string;
  /** Makes one text of a row. */
  readonly sql: string;
  /** Sorted. */
  readonly rows: readonly string[];
  /** Format 3: id, row id and last updated sequence number of each row, sorted. */
  readonly rowIds: readonly string[];
}

const rowIdText = "concat_ws('|', id, _row_id, _last_updated_sequence_number)";

/** The tables that each writer makes: Iceberg Java 1.11.0, pyiceberg 0.11.1, DuckDB 1.5.5's extension, Trino 476. */
const shapes = {
  java: [
    'v1 identity, changed schema',
    'v1 identity, changed schema, avro',
    'v1 none, changed schema',
    'v1 year, changed schema',
    'v2 bucket[3], positions, equality, changed schema',
    'v2 bucket[3], positions, equality, changed schema, avro',
    'v2 day, positions, changed schema',
    'v2 hour, equality, changed schema',
    'v2 none then bucket[2] then day, positions, equality',
    'v2 none, equality',
    'v2 none, equality, changed schema',
    'v2 none, equality, changed schema',
    'v2 none, orc',
    'v2 truncate[2], positions, changed schema',
    'v3 identity, vectors, equality, changed schema',
    'v3 identity, vectors, equality, changed schema, avro',
    'v3 month, vectors, changed schema',
    'v3 none, vectors',
    'v3 none, vectors, equality',
    'v3 none, vectors, equality, avro',
    'v3 none, vectors, equality, changed schema',
  ],
  pyiceberg: [
    'v1 identity, changed schema',
    'v1 none, changed schema',
    'v1 truncate[2], changed schema',
    'v1 year, changed schema',
    'v2 bucket[3], changed schema',
    'v2 day, changed schema',
    'v2 hour, changed schema',
    'v2 month, changed schema',
  ],
  duckdb: [
    'v2 bucket[3], positions',
    'v2 hour, positions',
    'v2 month, positions',
    'v2 none, positions, changed schema',
    'v3 day, vectors',
    'v3 identity, vectors',
    'v3 none, vectors, changed schema',
    'v3 truncate[2], vectors',
    'v3 year, vectors',
  ],
  trino: [
    'a view',
    'v1 identity and year',
    'v2 bucket[3], positions, changed schema',
    'v2 day and hour, positions',
    'v2 identity, positions, avro',
    'v2 none',
    'v2 none then bucket[2] then day and truncate[1], positions',
    'v2 none, positions',
    'v2 none, positions, avro',
    'v2 none, positions, orc',
    'v2 truncate[2] and month, positions',
  ],
} as const satisfies Record<string, readonly string[]>;
const tableCount = 49;
type Writer = keyof typeof shapes;
const writers = Object.keys(shapes) as Writer[];

/** What DuckDB's extension says of tables that it does not read. */
const faultsOfSecondOpinion: Readonly<Record<string, RegExp>> = {
  'shapes.v3_types': /Unrecognized primitive type: timestamptz_ns/,
};
/** Equality deletes by values that are NULL, or by columns that are dropped or in structs: its process dies of them. */
const deadlyForSecondOpinion = /_(?:equality|specs|nested_key)$/;

/** In a format that the second opinion does not read. */
const hasAvro = /_avro$/;

/** What is answered without reading each row, unless rows are deleted. */
const limitedUses: readonly ((of: string) => string)[] = [
  (of) => `SELECT min(id), max(id), count(*) FROM ${of}`,
  (of) => `SELECT id FROM ${of} ORDER BY id LIMIT 3`,
  (of) => `SELECT count(*) FROM (SELECT id FROM ${of} LIMIT 7)`,
];
const everyRowOf = (table: string) => `(SELECT id, row_number() OVER () AS n FROM ${table})`;

describe('tables of all shapes', () => {
  let service: TestService;
  let client: FlightClient;
  const tables = new Map<Writer, readonly WrittenTable[]>();
  before(async () => {
    service = await startService({ config: { 'catalog.catalog_url': peers.url } });
    client = await service.client();
    await Promise.all(writers.map(async (writer) => tables.set(writer, await written(writer))));
  });
  after(() => service[Symbol.asyncDispose]());

  const texts = async (sql: string): Promise<readonly string[]> =>
    (await rows(client, sql)).map(([text]) => String(text)).sort();

  /** Every table that is not as its writer knows it, with why. */
  const wrong = async (tables: readonly WrittenTable[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const { table, sql, rows: expected, rowIds } of tables) {
      const compare = async (text: string, wanted: readonly string[]) =>
        assert.deepEqual(await texts(`SELECT ${text} FROM ${table}`), wanted);
      try {
        await compare(sql, expected);
        if (rowIds.length > 0) await compare(rowIdText, rowIds);
        assert.deepEqual(await rows(client, `SELECT count(*) FROM ${table}`), [[BigInt(expected.length)]]);
        for (const useOf of limitedUses)
          assert.deepEqual(await rows(client, useOf(table)), await rows(client, useOf(everyRowOf(table))));
      } catch (error) {
        found.push(`${table}: ${String(error).slice(0, 2000)}`);
      }
    }
    return found;
  };

  for (const writer of writers)
    it(`by ${writer} have the rows that it wrote and did not delete`, async () => {
      const all = tables.get(writer) ?? [];
      assert.deepEqual(await wrong(all.filter(isReadable)), []);
    });

  it('are these', async () => {
    const found: Partial<Record<Writer, readonly string[]>> = {};
    for (const [writer, all] of tables)
      found[writer] = (await Promise.all(all.map(({ table }) => shapeOf(peers.url, table)))).sort();
    assert.deepEqual(found, shapes);
    assert.equal([...tables.values()].flat().length, tableCount);
  });

  it('are read equal by a second opinion, but for the faults that it is known for', async () => {
    const all = [...tables.values()]
      .flat()
      .filter(
        (each) =>
          isReadable(each) &&
          !hasAvro.test(each.table) &&
          each.metadata !== undefined &&
          !deadlyForSecondOpinion.test(each.table),
      );
    assert.equal(all.length, 32);
    const answers = await secondOpinion(all);
    for (const [index, { table, rows: expected }] of all.entries()) {
      const { rows: found = [], error = `${found.length} rows` } = answers[index] ?? {};
      const fault = faultsOfSecondOpinion[table];
      if (fault === undefined)
        assert.deepEqual([table, error, found], [table, `${expected.length} rows`, expected]);
      else assert.match(error, fault, table);
    }
  });

  it('show their row ids where they are named, and never in a star', async () => {
    const table = 'shapes.v3_types';
    assert.equal((await rows(client, `SELECT * FROM ${table} LIMIT 1`))[0]?.length, 13);
    await assert.rejects(rows(client, `SELECT *, _row_id FROM ${table}`), {
      code: 'NOT_SUPPORTED',
      message: /_row_id .* of shapes\.v3_types lists columns by name only/,
    });
    const filtered = `SELECT count(*) FROM ${table} WHERE _row_id >= 0 AND _last_updated_sequence_number > 0`;
    assert.deepEqual(await rows(client, filtered), await rows(client, `SELECT count(*) FROM ${table}`));
    await assert.rejects(rows(client, 'SELECT _row_id FROM shapes.v2_plain_keys'), { code: 'BINDING_ERROR' });
  });

  it('with files of a format that is not read are refused where such a file is read only', async () => {
    const others = [...tables.values()].flat().filter((each) => !isReadable(each));
    assert.deepEqual(others.map(({ table }) => table).sort(), ['by_trino.v2_orc', 'shapes.v2_orc']);
    for (const { table } of others)
      await assert.rejects(texts(`SELECT id FROM ${table}`), {
        code: 'UNSUPPORTED_TABLE_FEATURE',
        message: /(?:data|delete) file s3:.* of table .*v2_orc has the format ORC; Parquet and Avro are read/,
      });
    assert.deepEqual(await rows(client, 'SELECT count(*), max(id) FROM shapes.v2_orc WHERE id < 10'), [
      [10n, 9n],
    ]);
    assert.deepEqual(await rows(client, 'SELECT count(*) FROM shapes.v2_orc'), [[20n]]);
  });
});

function isReadable({ table }: WrittenTable): boolean {
  return !table.endsWith('_orc');
}

/** The tables that a writer says it has written, one in a line. */
async function written(writer: Writer): Promise<readonly WrittenTable[]> {
  if (writer === 'trino') return await writtenByTrino();
  const jvm = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const [command, args] =
    writer === 'java'
      ? ['java', [...jvm, '-cp', peers.classPath, 'WriteShapes']]
      : [peers.python, [join(peers.peersFolder, 'shapes', 'write_shapes.py'), writer]];
  const { stdout } = await run(command, [...args, peers.url, peers.storage.endpoint], {
    env: { ...process.env, AWS_REGION: 'us-east-1', PYTHONDONTWRITEBYTECODE: '1' },
    maxBuffer: 1 << 26,
  });
  return jsonLines<WrittenTable>(stdout);
}

/** It runs for no longer than it writes: it takes much of a small machine. */
async function writtenByTrino(): Promise<readonly WrittenTable[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trino-'));
  try {
    const { startTrino }: TrinoModule = await import(peers.trinoModule);
    const trino = await startTrino(folder, { catalogUrl: peers.url, storage: peers.storage });
    try {
      const tables = await writeByTrino(trino.query);
      return await Promise.all(
        tables.map(async (each) => {
          const metadata = (await loadedTable(peers.url, each.table))?.['metadata-location'];
          return { ...each, rowIds: [], ...(metadata === undefined ? {} : { metadata }) };
        }),
      );
    } finally {
      await trino.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface SecondOpinion {
  readonly rows?: readonly string[];
  readonly error?: string;
}

async function secondOpinion(tables: readonly WrittenTable[]): Promise<readonly SecondOpinion[]> {
  const folder = await mkdtemp(join(tmpdir(), 'shapes-'));
  try {
    const cases = join(folder, 'cases.jsonl');
    await writeFile(cases, tables.map((table) => JSON.stringify(table)).join('\n'));
    const program = join(peers.peersFolder, 'shapes', 'read_shapes.py');
    const { stdout } = await run(peers.python, [program, JSON.stringify(peers.storage), cases], {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      maxBuffer: 1 << 26,
    });
    return jsonLines<SecondOpinion>(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function jsonLines<T>(text: string): readonly T[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): T => JSON.parse(line));
}
