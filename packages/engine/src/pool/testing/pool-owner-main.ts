import { silentLogger } from '@svc/base';
import { createHostPool } from '../host-pool.js';

/**
 * A process with a pool of fake hosts below the folder in its argument: one inside the engine, one idle. Writes the
 * hosts' process ids to stdout and then does nothing.
 */
const limits = { memoryBytes: 64 << 20, threads: 1, tempDirectoryBytes: 1 << 20 };
const lane = { hosts: 1, limits, spareHosts: 0 };
const pool = createHostPool({
  folder: process.argv[2] ?? '',
  log: silentLogger,
  hostEntry: new URL('../../host/testing/fake-host-main.js', import.meta.url),
  query: lane,
  small: lane,
});
const busy = await pool.lease({ owner: 'a', lane: 'query' });
const idle = await pool.lease({ owner: 'a', lane: 'small' });
const pids = [await busy.queryText('pid', []), await idle.queryText('pid', [])];
await idle.release();
const stuck = await busy.query({ sql: 'stubborn', arrow: 'client' });
process.stdout.write(`${JSON.stringify({ pids, inputDirectory: busy.inputDirectory })}\n`);
await stuck.engineDone;
