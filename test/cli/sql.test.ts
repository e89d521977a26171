import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFileStore, inspectParquet } from '@svc/lake';
import { tableFromIPC } from 'apache-arrow';
import { generate } from 'selfsigned';
import { runSvc, type StartedService, startService, startSvc, until } from './support/svc.js';

const endless = 'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3';

/** What an embedded session and a remote one must do alike. */
const places = ['embedded', 'remote'] as const;

describe('svc sql', () => {
  let folder: string;
  let service: StartedService;
  let remote: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-sql-test-'));
    service = await startService(folder);
    const password = (await readFile(join(folder, '.svc', 'local-password'), 'utf8')).trim();
    remote = {
      args: ['--server', service.address],
      env: { SVC_USER: 'local', SVC_PASSWORD: password },
    };
  });

  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const sql = (place: (typeof places)[number], args: readonly string[], input?: string) =>
    place === 'embedded'
      ? runSvc(['sql', ...args], { cwd: folder, input })
      : runSvc(['sql', ...remote.args, ...args], { cwd: folder, env: remote.env, input });

  for (const place of places) {
    describe(place, () => {
      it('answers a statement as a table', async () => {
        const run = await sql(place, ['-c', "SELECT 1 AS one, 'a' AS two"]);
        assert.deepEqual(run, {
          code: 0,
          stdout: ' one │ two\n─────┼─────\n   1 │ a\n(1 row)\n',
          stderr: '',
        });
      });

      it('runs statements of the command line, files and standard input in one session', async () => {
        await writeFile(join(folder, 'script.sql'), "SELECT ';' AS x; -- done\nSELECT 2 AS x");
        const args = ['--format', 'csv', '-c', 'USE samples', '-f', 'script.sql', '-f', '-'];
        const run = await sql(place, args, 'SELECT count(*) AS n FROM flights;');
        assert.equal(run.stderr, '');
        assert.equal(run.stdout.split('\r\n').slice(2).join(' '), 'x ; x 2 n 3000000 ');
        const piped = await sql(place, ['--format', 'ndjson', '--schema', 'samples'], 'FROM flights LIMIT 2');
        assert.equal(piped.stdout.trim().split('\n').length, 2);
      });

      it('writes exact numbers and ISO times in JSON', async () => {
        const run = await sql(place, [
          '--format',
          'ndjson',
          '-c',
          "SELECT 9223372036854775807 AS a, 12345678901234567890.12::DECIMAL(22,2) AS b, TIMESTAMP '2024-01-02 03:04:05.000006' AS c, NULL AS d",
        ]);
        assert.equal(
          run.stdout,
          '{"a":9223372036854775807,"b":12345678901234567890.12,"c":"2024-01-02T03:04:05.000006","d":null}\n',
        );
      });

      it('writes an Arrow stream to a file, which appears when it is complete', async () => {
        const path = join(folder, `${place}.arrow`);
        const query = 'SELECT * FROM samples.flights LIMIT 100000';
        assert.equal((await sql(place, ['--format', 'arrow', '-o', path, '-c', query])).code, 0);
        assert.equal(tableFromIPC(await readFile(path)).numRows, 100_000);
        const failing = ['--format', 'csv', '-o', path, '-c', 'SELECT 1; SELECT nonsense'];
        assert.equal((await sql(place, failing)).code, 1);
        assert.equal(tableFromIPC(await readFile(path)).numRows, 100_000);
        assert.deepEqual(
          (await readdir(folder)).filter((name) => name.includes('unfinished')),
          [],
        );
      });

      it('writes Parquet, and names a column that Parquet cannot have', async () => {
        const path = join(folder, `${place}.parquet`);
        const query = "SELECT *, [delay] AS list, {'a': origin} AS struct FROM samples.flights LIMIT 100000";
        assert.equal((await sql(place, ['--format', 'parquet', '-o', path, '-c', query])).stderr, '');
        const { metrics } = await inspectParquet(createFileStore(), path, {
          signal: new AbortController().signal,
        });
        assert.equal(metrics.recordCount, 100_000);
        const run = await sql(place, ['--format', 'parquet', '-c', 'SELECT union_value(k := 1) AS either']);
        assert.match(run.stderr, /\[NOT_SUPPORTED\] Column "either"/);
        const several = await sql(place, ['--format', 'parquet', '-c', 'SELECT 1; SELECT 2']);
        assert.equal(several.code, 2);
      });

      it('stops at the first error, says where it is, and goes on only when told to', async () => {
        const path = join(folder, 'failing.sql');
        await writeFile(path, 'SELECT 1 AS a;\n\nSELECT *\nFROM samples.nothing;\nSELECT 2 AS a;\n');
        const stopped = await sql(place, ['--format', 'csv', '-f', path]);
        assert.deepEqual([stopped.code, stopped.stdout], [1, 'a\r\n1\r\n']);
        assert.match(stopped.stderr, /failing\.sql:3: \[TABLE_NOT_FOUND\] .*samples\.nothing/);
        const wentOn = await sql(place, ['--keep-going', '--format', 'csv', '-f', path]);
        assert.deepEqual([wentOn.code, wentOn.stdout], [1, 'a\r\n1\r\na\r\n2\r\n']);
        assert.match((await sql(place, ['-c', 'SELECT 1 +'])).stderr, /\[SYNTAX_ERROR\]/);
      });

      it('ends quietly when the reader of its output goes away', async () => {
        const args = place === 'embedded' ? ['sql'] : ['sql', ...remote.args];
        const env = place === 'embedded' ? {} : remote.env;
        const query = 'SELECT * FROM samples.flights a, range(1000)';
        const svc = startSvc([...args, '--format', 'csv', '-c', query], { cwd: folder, env });
        await until(() => svc.stdout().length > 100_000);
        svc.process.stdout?.destroy();
        assert.deepEqual(await svc.exit, [0, null]);
        assert.equal(svc.stderr(), '');
      });

      it('cancels at Ctrl-C with its own exit code and leaves nothing running', async () => {
        const args = place === 'embedded' ? ['sql'] : ['sql', ...remote.args];
        const env = place === 'embedded' ? {} : remote.env;
        const svc = startSvc([...args, '--format', 'csv', '-c', `SELECT 1 AS a; ${endless}`], {
          cwd: folder,
          env,
        });
        await until(() => svc.stdout().includes('a\r\n1\r\n'));
        svc.process.kill('SIGINT');
        assert.deepEqual(await svc.exit, [130, null]);
        assert.match(svc.stderr(), /^svc: \[CANCELLED\]/);
      });
    });
  }

  it('has exit codes for what is not the statement', async () => {
    const code = async (args: readonly string[], env = remote.env) =>
      (await runSvc(args, { cwd: folder, env })).code;
    assert.equal(await code(['sql', '--nonsense']), 2);
    assert.equal(await code(['sql', '--format', 'xml', '-c', 'SELECT 1']), 2);
    assert.equal(await code(['sql', '-f', 'missing.sql']), 2);
    assert.equal(await code(['nonsense']), 2);
    assert.equal(await code(['sql', '--config', 'missing.toml', '-c', 'SELECT 1']), 2);
    assert.equal(await code(['sql', '--server', 'grpc://127.0.0.1:1', '-c', 'SELECT 1']), 3);
    const wrong = { SVC_USER: 'local', SVC_PASSWORD: 'wrong' };
    assert.equal(await code(['sql', ...remote.args, '-c', 'SELECT 1'], wrong), 3);
    assert.equal(await code(['sql', '-o', 'no/such/folder', '-c', 'SELECT 1']), 4);
  });

  it('does not send credentials over a connection that others can read', async () => {
    const run = await runSvc(['sql', '--server', 'grpc://192.0.2.1:1', '-c', 'SELECT 1'], {
      cwd: folder,
      env: remote.env,
    });
    assert.equal(run.code, 3);
    assert.match(run.stderr, /\[INSECURE_TRANSPORT\].*--insecure/);
  });

  it('trusts the certificates it is told to, and no others', async () => {
    const tlsFolder = await mkdtemp(join(tmpdir(), 'svc-sql-tls-'));
    try {
      const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
        keyType: 'ec',
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
      });
      await writeFile(join(tlsFolder, 'cert.pem'), cert);
      await writeFile(join(tlsFolder, 'key.pem'), key);
      const settings = 'tls_cert = "cert.pem"\ntls_key = "key.pem"\n';
      const tls = await startService(tlsFolder, settings);
      try {
        const password = (await readFile(join(tlsFolder, '.svc', 'local-password'), 'utf8')).trim();
        const connect = (args: readonly string[]) =>
          runSvc(['sql', '--server', tls.address, ...args, '--format', 'csv', '-c', 'SELECT 1 AS a'], {
            cwd: tlsFolder,
            env: { SVC_USER: 'local', SVC_PASSWORD: password },
          });
        assert.match(tls.address, /^grpc\+tls:/);
        assert.deepEqual(await connect(['--tls-roots', 'cert.pem']), {
          code: 0,
          stdout: 'a\r\n1\r\n',
          stderr: '',
        });
        assert.equal((await connect([])).code, 3);
        assert.equal((await connect(['--tls-roots', 'missing.pem'])).code, 2);
      } finally {
        await tls.stop();
      }
    } finally {
      await rm(tlsFolder, { recursive: true, force: true });
    }
  });

  it('ends at Ctrl-C while it waits for the next statement', async () => {
    const child = startSvc(['sql', '--format', 'csv'], { cwd: folder, hasOpenInput: true });
    child.process.stdin?.write('SELECT 1 AS a;\n');
    await until(() => child.stdout() === 'a\r\n1\r\n');
    child.process.kill('SIGINT');
    assert.deepEqual(await child.exit, [130, null]);
  });

  it('names the folder that it cannot use', async () => {
    const run = await runSvc(['sql', '-c', 'SELECT 1'], {
      cwd: folder,
      env: { SVC_SERVER__DATA_DIR: '/dev/null/x' },
    });
    assert.equal(run.code, 2);
    assert.match(run.stderr, /^svc: \[CONFIGURATION_ERROR\] The folder \/dev\/null\/x\S* cannot be used/);
  });

  it('signs in with a token', async () => {
    const run = await runSvc(['sql', ...remote.args, '-c', 'SELECT 1'], {
      cwd: folder,
      env: { SVC_TOKEN: 'not-a-token' },
    });
    assert.equal(run.code, 3);
    assert.match(run.stderr, /\[UNAUTHENTICATED\]/);
  });

  it('lets several sessions and a service use one folder at once', async () => {
    const query = 'SELECT origin, sum(distance) FROM samples.flights WHERE delay > 100 GROUP BY 1 ORDER BY 1';
    const runs = await Promise.all([0, 1, 2].map(() => sql('embedded', ['--format', 'csv', '-c', query])));
    const viaService = await sql('remote', ['--format', 'csv', '-c', query]);
    for (const run of runs) assert.deepEqual(run, viaService);
  });

  it('makes the catalog with its sample table the first time', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'svc-sql-fresh-'));
    try {
      const run = await runSvc(
        ['sql', '--format', 'csv', '-c', 'SELECT count(*) AS n FROM samples.flights'],
        {
          cwd: fresh,
        },
      );
      assert.deepEqual([run.code, run.stdout], [0, 'n\r\n3000000\r\n']);
      assert.match(run.stderr, /First start/);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  });
});

describe('svc', () => {
  it('has a help text for every command', async () => {
    for (const command of ['serve', 'sql', 'completion', 'version']) {
      const [help, option] = await Promise.all([
        runSvc(['help', command], {}),
        runSvc([command, '--help'], {}),
      ]);
      assert.deepEqual([help.code, help.stderr], [0, '']);
      assert.match(help.stdout, new RegExp(`^svc ${command}: `));
      assert.deepEqual(option, help);
      for (const line of help.stdout.split('\n')) assert.ok(line.length <= 120, line);
    }
    assert.equal((await runSvc(['help', 'nonsense'], {})).code, 2);
  });

  it('prints completions for three shells and no others', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await runSvc(['completion', shell], {})).stdout, /keep-going/);
    assert.equal((await runSvc(['completion', 'tcsh'], {})).code, 2);
  });
});
