import { atMost, type DefaultInputs, setting } from './setting.js';
import { bytes, integer, seconds } from './value-types.js';

const TiB = 2 ** 40;
const GiB = 2 ** 30;
const MiB = 2 ** 20;
const KiB = 2 ** 10;

/** The share of the memory that queries may use together; the rest is for the coordinator, caches and the page cache. */
const queryMemoryShare = 0.6;
/** Below this a query spills more than it computes, so fewer of them run at once. */
const usefulQueryMemoryBytes = 512 * MiB;
const memoryPerThreadBytes = 256 * MiB;

function defaultConcurrency({ machine, given }: DefaultInputs): number {
  const limit = given('query.memory_limit');
  const each = typeof limit === 'number' ? limit : usefulQueryMemoryBytes;
  const byMemory = Math.floor((queryMemoryShare * machine.memoryBytes) / each);
  return clamp(Math.min(Math.max(4, machine.cores), byMemory), 1, 64);
}

function defaultQueryMemory(inputs: DefaultInputs): number {
  const given = inputs.given('query.max_concurrent');
  const concurrency = typeof given === 'number' ? given : defaultConcurrency(inputs);
  const share = (queryMemoryShare * inputs.machine.memoryBytes) / concurrency;
  return clamp(wholeMiB(share), 256 * MiB, 1 * TiB);
}

/** An idle process takes some 45 MiB: much, beside engines that may have little. */
function defaultSpareHosts({ machine, given }: DefaultInputs): number {
  const limit = given('query.memory_limit');
  const isSmall = typeof limit === 'number' && limit < usefulQueryMemoryBytes;
  return isSmall || machine.memoryBytes < 4 * GiB ? 1 : 2;
}

/** Every thread that sorts or writes holds memory of its own, some of which the engine does not count. */
function defaultThreads(inputs: DefaultInputs): number {
  const given = inputs.given('query.memory_limit');
  const memory = typeof given === 'number' ? given : defaultQueryMemory(inputs);
  return clamp(Math.min(inputs.machine.cores, Math.floor(memory / memoryPerThreadBytes)), 1, 1024);
}

function memoryShare(share: number, min: number, max: number): (inputs: DefaultInputs) => number {
  return ({ machine }) => clamp(wholeMiB(share * machine.memoryBytes), min, max);
}

function wholeMiB(size: number): number {
  return Math.floor(size / MiB) * MiB;
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

const sqlSize = bytes(1 * KiB, 64 * MiB);
const diskSize = bytes(0, 1024 * TiB);

/** How much of the machine queries, engine processes and caches may use. */
export const resourceSettings = {
  'query.max_concurrent': setting(
    integer(1, 1024),
    {
      text: 'one per core, at least 4, at most 64, and as many as 60 % of the memory holds of `query.memory_limit` (512 MiB when that is not set)',
      compute: defaultConcurrency,
    },
    'Queries that run at the same time; more wait in the queue.',
  ),
  'query.max_queued': setting(
    integer(0, 100_000),
    200,
    'Queries that may wait; one more is refused with QUEUE_FULL.',
  ),
  'query.queue_timeout_secs': setting(
    seconds(0.1),
    60,
    'Time a query may wait before it fails with QUEUE_TIMEOUT.',
  ),
  'query.timeout_secs': setting(
    seconds(0.1),
    3600,
    'Time a query may take from its submission to its last row before it fails with QUERY_TIMEOUT.',
  ),
  'query.memory_limit': setting(
    bytes(128 * MiB, 16 * TiB),
    {
      text: '60 % of the memory divided by `query.max_concurrent`, at least 256 MiB',
      compute: defaultQueryMemory,
    },
    'Memory of one engine process, and so of one query; beyond it the engine spills, then fails with OUT_OF_MEMORY.',
  ),
  'query.max_result_bytes': setting(
    bytes(1 * KiB, 1024 * TiB),
    32 * GiB,
    'Size of one result as Arrow data; a larger one fails with RESULT_TOO_LARGE.',
  ),
  'query.join_keys_bytes': setting(
    bytes(0, 1024 * TiB),
    16 * MiB,
    'A table of which so much or more would have to be fetched is read by the keys of small tables that it is joined with, where these leave out some of its files and row groups; finding the keys takes a tenth of a second. On workers and functions it is always the default.',
  ),
  'query.max_sql_bytes': setting(
    sqlSize,
    atMost(sqlSize, 1 * MiB, 'server.max_request_bytes'),
    'Length of one SQL text in UTF-8; a longer one fails with STATEMENT_TOO_LARGE.',
  ),
  'query.slow_client_timeout_secs': setting(
    seconds(1),
    300,
    'Time a client may stop reading once its spool budget is used up before the query fails with SLOW_CONSUMER.',
  ),
  'query.spool_bytes': setting(
    diskSize,
    atMost(diskSize, 4 * GiB, 'query.spool_total_bytes'),
    'Disk space that keeps the unread result of one query whose client reads slowly; 0 turns spooling off.',
  ),
  'query.spool_total_bytes': setting(diskSize, 16 * GiB, 'Disk space of all such results together.'),

  'engine.threads': setting(
    integer(1, 1024),
    {
      text: 'one per core, and at most one per 256 MiB of `query.memory_limit`',
      compute: defaultThreads,
    },
    'Threads of one engine process.',
  ),
  'engine.spare_hosts': setting(
    integer(0, 64),
    {
      text: '2, but 1 below 4 GiB of memory, and where `query.memory_limit` is below 512 MiB',
      compute: defaultSpareHosts,
    },
    'Fresh engine processes that stand ready for the next user.',
  ),
  'engine.host_idle_secs': setting(
    seconds(1),
    60,
    'An engine process that its user has not used for this long is recycled.',
  ),
  'engine.max_queries_per_host': setting(
    integer(1, 1_000_000),
    10_000,
    'An engine process is recycled after this many queries.',
  ),
  'engine.spill_bytes': setting(
    diskSize,
    16 * GiB,
    'Disk space that one engine process may use for intermediate data; 0 turns spilling off.',
  ),

  'cache.metadata_bytes': setting(
    bytes(0, 1 * TiB),
    { text: '2 % of the memory, 32 MiB to 512 MiB', compute: memoryShare(0.02, 32 * MiB, 512 * MiB) },
    'Memory for table metadata and manifests; 0 turns the cache off.',
  ),
  'cache.context_bytes': setting(
    bytes(0, 1 * TiB),
    { text: '2 % of the memory, 32 MiB to 512 MiB', compute: memoryShare(0.02, 32 * MiB, 512 * MiB) },
    'Memory for what catalogs told users, while `coordinator.session_context_cache_ttl_secs` lets it be used again; 0 turns that off.',
  ),
  'cache.footer_bytes': setting(
    bytes(0, 1 * TiB),
    { text: '2 % of the memory, 32 MiB to 512 MiB', compute: memoryShare(0.02, 32 * MiB, 512 * MiB) },
    'Memory for the footers of data files; 0 turns the cache off.',
  ),
  'cache.disk_bytes': setting(
    diskSize,
    10 * GiB,
    'Disk space for the parts of data files that queries read, kept for later ones. Tables that need more are read part by part; a third must hold the largest row group.',
  ),
} as const;
