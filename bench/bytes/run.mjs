// How many bytes of a table in remote storage a query takes. See bench/README.md.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createFileStore,
  createFileSystemCatalog,
  createFooterCache,
  createHttpStore,
  createMetadataFiles,
  openStagingCache,
  planScan,
  stageScan,
} from '@svc/lake';
import { cacheFolder } from '../../scripts/support/peer-environment.mjs';

const MiB = 2 ** 20;
const root = path.resolve(import.meta.dirname, '../..');
const main = path.join(root, 'packages/cli/dist/bundle/main.mjs');
const lineitem = path.join(cacheFolder(), 'tpch-sf1/warehouse/tpch/lineitem/data/*.parquet');

const compare = (column, operator, type, value) => ({
  kind: 'compare',
  column: [column],
  operator,
  literal: { type, value },
});
const day = (text) => BigInt(Date.parse(text) / 86_400_000);

const cases = [
  {
    name: 'q6, months',
    table: 'lineitem',
    sql: `CREATE TABLE bytes.lineitem PARTITIONED BY (month(l_shipdate)) AS SELECT * FROM '${lineitem}'`,
    request: {
      columns: [['l_extendedprice'], ['l_discount'], ['l_quantity'], ['l_shipdate']],
      filters: [
        compare('l_shipdate', '>=', 'DATE', day('1994-01-01')),
        compare('l_shipdate', '<', 'DATE', day('1995-01-01')),
        compare('l_discount', '>=', 'DECIMAL(15,2)', 5n),
        compare('l_discount', '<=', 'DECIMAL(15,2)', 7n),
        compare('l_quantity', '<', 'DECIMAL(15,2)', 2400n),
      ],
    },
    limit: (scan) => 1.1 * scan.counts.bytesPlanned,
  },
  {
    // Twenty rows of each key, side by side, keys in no order: DuckDB writes bloom filters of columns with a dictionary.
    name: 'point lookup, bloom filters',
    table: 'keyed',
    sql: `CREATE TABLE bytes.keyed AS SELECT i AS id, md5(((i // 20) * 7919 % 300000)::VARCHAR) AS key,
      (i * 37 % 100000)::DECIMAL(15, 2) / 100 AS amount, DATE '2020-01-01' + (i % 2000)::INTEGER AS day,
      'note ' || (i % 100) AS note FROM range(6000000) r(i)`,
    request: {
      columns: undefined,
      filters: [compare('key', '=', 'VARCHAR', 'e10adc3949ba59abbe56e057f20f883e')],
    },
    limit: () => 2 * MiB,
  },
];

/** Serves files with byte ranges, and counts what it sent. */
async function startServer() {
  const counts = { requests: 0, bytes: 0 };
  const server = createServer(async (request, response) => {
    const file = decodeURIComponent(request.url ?? '');
    const { size, mtimeMs } = await stat(file);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [
      undefined,
      '0',
      `${size - 1}`,
    ];
    const [start, end] = [Number(from), Math.min(Number(to), size - 1)];
    const headers = {
      etag: `"${size}-${mtimeMs}"`,
      'accept-ranges': 'bytes',
      'content-length': end - start + 1,
    };
    if (request.method === 'HEAD') return response.writeHead(200, headers).end();
    counts.requests += 1;
    counts.bytes += end - start + 1;
    response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${size}` });
    createReadStream(file, { start, end }).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, counts, url: `http://127.0.0.1:${server.address().port}` };
}

/** Data files are asked of the server, metadata of the disk. */
function remoteStore(url) {
  const [local, http] = [createFileStore(), createHttpStore()];
  const isData = (location) => location.endsWith('.parquet');
  const remote = (location) => `${url}${encodeURI(location.replace(/^file:\/\//, ''))}`;
  return {
    ...local,
    localPath: () => undefined,
    head: async (location, options) =>
      isData(location)
        ? { ...(await http.head(remote(location), options)), location }
        : await local.head(location, options),
    readRanges: (location, ranges, options) =>
      isData(location)
        ? http.readRanges(remote(location), ranges, options)
        : local.readRanges(location, ranges, options),
  };
}

async function measure({ name, table: tableName, request, limit }, warehouse, folder, { counts, url }) {
  const store = remoteStore(url);
  const manifests = createMetadataFiles(256 * MiB);
  const catalog = createFileSystemCatalog({ root: warehouse, store, files: manifests });
  const table = await catalog.loadTable({ namespace: ['bytes'], name: tableName });
  const footers = createFooterCache({ maxBytes: 256 * MiB });
  const cache = await openStagingCache({
    folder: path.join(folder, `cache-${tableName}`),
    maxBytes: 4096 * MiB,
  });
  const directory = path.join(folder, `staged-${tableName}`);
  await mkdir(directory);
  const run = async (wanted) => {
    Object.assign(counts, { requests: 0, bytes: 0 });
    const scan = await planScan(table, { kind: 'current' }, wanted, { tableName, footers, manifests });
    await stageScan(scan, { store, cache, footers, directory });
    return { scan, ...counts };
  };
  const footerBytes = (await run({ ...request, filters: request.filters.slice(0, 0), columns: [] })).bytes;
  const first = await run(request);
  const second = await run(request);
  const { scan } = first;
  console.log(
    `${name}: ${scan.counts.filesPlanned} of ${scan.counts.filesTotal} files, ${scan.counts.rowGroupsPlanned} of ${scan.counts.rowGroupsTotal} row groups, ` +
      `${scan.counts.bytesPlanned} bytes of needed chunks; footers took ${footerBytes} bytes before, ` +
      `the query ${first.bytes} in ${first.requests} requests (at most ${Math.floor(limit(scan))}), again ${second.bytes}`,
  );
  assert.ok(first.bytes > 0 && scan.counts.filesPlanned > 0, `${name}: nothing was read`);
  return first.bytes <= limit(scan) && second.bytes === 0;
}

const folder = await mkdtemp(path.join(tmpdir(), 'bench-bytes-'));
const server = await startServer();
try {
  const warehouse = path.join(folder, 'warehouse');
  const config = path.join(folder, 'svc.toml');
  await writeFile(
    config,
    `[catalog]\npath = "${warehouse}"\n[server]\ndata_dir = "${path.join(folder, 'data')}"\n`,
  );
  const sql = ['CREATE SCHEMA bytes', ...cases.map((each) => each.sql)];
  execFileSync(process.execPath, [main, 'sql', '--config', config, ...sql.flatMap((text) => ['-c', text])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const each of cases) if (!(await measure(each, warehouse, folder, server))) process.exitCode = 1;
} finally {
  server.server.closeAllConnections();
  server.server.close();
  await rm(folder, { recursive: true, force: true });
}
