/** Files in statements of the embedded command line. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { serveFolder } from './support/serve-folder.js';
import { runSvc } from './support/svc.js';

const deltaTables = new URL('../../../packages/lake/testdata/delta', import.meta.url).pathname;

/** Ten row groups by `n`, beside a column that is most of the file. */
const wideSql =
  'SELECT range AS n, md5(range::VARCHAR) || md5((range + 1)::VARCHAR) AS text FROM range(1228800)';

describe('svc sql on files', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-files-test-'));
    await mkdir(join(folder, 'years', 'year=2023'), { recursive: true });
    await mkdir(join(folder, 'years', 'year=2024'));
    await writeFile(join(folder, 'people.csv'), 'id,name,born\n1,Ada,1815-12-10\n2,"Grace, H.",1906-12-09\n');
    await writeFile(join(folder, "it's 💥.json"), '[{"a": 1, "b": {"c": ["x"]}}, {"a": null}]');
    await writeFile(join(folder, 'broken.csv'), 'a,b\n1,"never ended\n2,3\n');
    for (const year of [2023, 2024])
      await output([
        '-o',
        `years/year=${year}/part.parquet`,
        '--format',
        'parquet',
        '-c',
        `SELECT range AS n FROM range(${year})`,
      ]);
  });
  after(async () => await rm(folder, { recursive: true, force: true }));

  const run = (args: readonly string[]) =>
    runSvc(['sql', ...args], { cwd: folder, env: { SVC_SAMPLES__ENABLED: 'false' } });
  const output = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    return stdout;
  };
  const csv = async (sql: string) =>
    (await output(['--format', 'csv', '-c', sql])).trimEnd().split('\r\n').slice(1);
  /** What is said of each of the statements, all of which fail, in one session: a process takes half a second to start. */
  const errors = async (statements: readonly string[]) => {
    const { stderr } = await run(['--keep-going', ...statements.flatMap((sql) => ['-c', sql])]);
    const said = stderr.split(/^(?=svc: )/m);
    assert.equal(said.length, statements.length, stderr);
    return said;
  };
  const assertErrors = async (expected: readonly (readonly [sql: string, error: RegExp])[]) => {
    const said = await errors(expected.map(([sql]) => sql));
    for (const [index, [sql, error]] of expected.entries()) assert.match(said[index] ?? '', error, sql);
  };

  it('reads them by their names and by functions', async () => {
    assert.deepEqual(await csv("SELECT people.name, born + 1 AS d FROM 'people.csv' WHERE id = 2"), [
      '"Grace, H.",1906-12-10',
    ]);
    assert.deepEqual(await csv(`FROM 'it''s 💥.json' ORDER BY a NULLS LAST`), ['1,"{""c"":[""x""]}"', ',']);
    assert.deepEqual(
      await csv(
        "SELECT count(*), sum(h) FROM read_csv(['people.csv', 'people.csv'], columns = {'h': 'HUGEINT', 'n': 'VARCHAR', 'b': 'DATE'}, header = true)",
      ),
      ['4,6'],
    );
  });

  it('knows patterns, hive partitions and file names as the engine does', async () => {
    assert.deepEqual(
      await csv("SELECT year, count(*) FROM 'years/*/*.parquet' WHERE n > 1 GROUP BY year ORDER BY year"),
      ['2023,2021', '2024,2022'],
    );
    assert.deepEqual(
      await csv(
        "SELECT DISTINCT parse_filename(filename), year FROM read_parquet('years/**/*.parquet', filename = true) WHERE year = 2024",
      ),
      ['part.parquet,2024'],
    );
  });

  it('joins them with tables, and makes tables of them', async () => {
    const sql = [
      'CREATE SCHEMA s',
      "CREATE TABLE s.people AS FROM 'people.csv'",
      "INSERT INTO s.people SELECT id + 10, name, born FROM 'people.csv'",
    ];
    await output(sql.flatMap((each) => ['-c', each]));
    assert.deepEqual(await csv("SELECT count(*), max(t.id) FROM s.people t JOIN 'people.csv' USING (name)"), [
      '4,12',
    ]);
  });

  it('reads Delta tables by their folders, at any version', async () => {
    const table = join(deltaTables, 'grown');
    const [latest] = await csv(`SELECT count(*), max(id) FROM '${table}'`);
    assert.deepEqual(await csv(`SELECT count(*), max(id) FROM delta_scan('${table}/')`), [latest]);
    const [first] = await csv(`SELECT count(*) FROM delta_scan('${table}', version = 0)`);
    assert.notEqual(first, latest?.split(',')[0]);
    await assertErrors([
      [`FROM delta_scan('${table}', version = 1000)`, /SNAPSHOT_NOT_FOUND.*versions 0 to/],
      [`FROM delta_scan('${table}', version = 1, timestamp = '2026-01-01')`, /INVALID_ARGUMENT/],
      ["FROM 'nowhere'", /TABLE_NOT_FOUND.*read_csv/],
    ]);
  });

  it('fetches files over http: of Parquet the chunks it needs, others once', async () => {
    await output(['-o', 'wide.parquet', '--format', 'parquet', '-c', wideSql]);
    await using server = await serveFolder(folder);
    const wide = `'${server.url}/wide.parquet'`;
    const { size } = await stat(join(folder, 'wide.parquet'));
    assert.deepEqual(await csv(`SELECT sum(n) FROM ${wide} WHERE n < 10`), ['45']);
    assert.ok(server.bytesSent() < size / 4, `${server.bytesSent()} of ${size} bytes`);
    const sql = [
      `SELECT count(*) FROM '${server.url}/people.csv'`,
      `SELECT max(id) FROM '${server.url}/people.csv'`,
    ];
    server.forget();
    await output(sql.flatMap((each) => ['-c', each]));
    assert.equal(server.requests('GET', '/people.csv'), 1);
    assert.deepEqual(
      await csv(
        `SELECT count(*), any_value(year), any_value(filename) FROM read_parquet('${server.url}/years/year=2024/part.parquet', filename = true)`,
      ),
      [`2024,2024,${server.url}/years/year=2024/part.parquet`],
    );
    await assertErrors([
      [`FROM '${server.url}/nothing.csv'`, /DATA_FILE_MISSING.*404/],
      [`FROM read_csv(['people.csv', '${server.url}/people.csv'])`, /NOT_SUPPORTED/],
    ]);
  });

  it('shows no part of a URL that may be a secret', async () => {
    await using server = await serveFolder(folder);
    const url = (path: string) => `${server.url.replace('://', '://ada:SECRET@')}/${path}?sig=SECRET`;
    const statements = [
      `FROM '${url('people.csv')}'`,
      `SELECT x.y FROM '${url('people.csv')}'`,
      `SELECT 1 / 'a' FROM '${url('people.csv')}'`,
      `EXPLAIN FROM '${url('people.csv')}'`,
      `SELECT filename FROM read_csv('${url('people.csv')}', filename = true)`,
      `FROM '${url('nothing.parquet')}'`,
      `FROM '${url('people')}'`,
      `FROM delta_scan('${server.url.replace('://', '://ada:SECRET@')}/years')`,
      `FROM '${url('people.csv').replace('http', 'ftp')}'`,
      `CREATE VIEW s.v AS FROM '${url('people.csv')}'`,
    ];
    const { stdout, stderr } = await run(['--keep-going', ...statements.flatMap((sql) => ['-c', sql])]);
    assert.match(stdout, /Grace/);
    assert.match(stderr, /DATA_FILE_MISSING/);
    assert.doesNotMatch(stdout + stderr, /SECRET/);
  });

  it('takes the folders it stands in as they are, and options as they are meant', async () => {
    for (const name of ['w[1]', 'w1', 'p*', 'pq']) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'a.csv'), `name\n${name}\n`);
    }
    for (const name of ['w[1]', 'p*']) {
      const options = { cwd: join(folder, name), env: { SVC_SAMPLES__ENABLED: 'false' } };
      const { stdout } = await runSvc(
        ['sql', '--format', 'csv', '-c', "FROM 'a.csv'", '-c', "FROM '*.csv'"],
        options,
      );
      assert.deepEqual(stdout.trimEnd().split('\r\n'), ['name', name, 'name', name]);
    }
    const table = join(deltaTables, 'grown');
    const options = ['version = NULL', 'version = 1.5', '1', "timestamp = DATE '2026-01-01'", 'foo = [1]'];
    await assertErrors([
      ...options.map((option) => [`FROM delta_scan('${table}', ${option})`, /INVALID_ARGUMENT/] as const),
      ["FROM read_csv('people.csv') WITH ORDINALITY", /NOT_SUPPORTED/],
    ]);
  });

  it('says what is wrong, without our statements', async () => {
    await assertErrors([
      ["FROM 'nothing.csv'", /^svc: \[DATA_FILE_MISSING\] .*nothing\.csv"\n$/],
      ["SELECT nme FROM 'people.csv'", /^svc: \[BINDING_ERROR\] (?!.* files").*"nme"/s],
      ["FROM 'people.xlsx'", /^svc: \[INVALID_ARGUMENT\] .*\.parquet, \.csv/],
      [
        "FROM read_csv('broken.csv', auto_detect = false, header = true, quote = '\"', columns = {'a': 'INTEGER', 'b': 'VARCHAR'})",
        /^svc: \[(?:EVALUATION_ERROR|BINDING_ERROR)\]/,
      ],
      ["CREATE VIEW s.v AS FROM 'people.csv'", /files may not be read/],
      ["COPY (SELECT 1) TO 'out.csv'", /STATEMENT_NOT_ALLOWED/],
    ]);
  });
});
