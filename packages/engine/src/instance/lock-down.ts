/**
 * Opens a database that can reach two folders and nothing else. The order matters: a setting that widens is refused
 * once `enable_external_access` is off, and every setting but the allowed ones once the configuration is locked.
 */
import { quoteText } from '../capi/logical-type.js';
import { profilerMetrics } from './profile.js';

export interface InstanceOptions {
  readonly memoryBytes: number;
  readonly threads: number;
  /** Where the engine spills; created and removed by the caller. */
  readonly tempDirectory: string;
  readonly tempDirectoryBytes: number;
  /** The folder that statements may read. */
  readonly inputDirectory: string;
  /** The folder that our own statements may also write (COPY … TO). */
  readonly outputDirectory?: string;
  /** See EngineLimits. */
  readonly reachableDirectories?: readonly string[];
  /** Largest Arrow message, header included; a single row beyond it fails. Default 16 MiB, what ADBC clients take. */
  readonly maxMessageBytes?: number;
}

/**
 * What the engine is told of its process's memory: it holds all of it before it spills, and about 100 MB more that it does
 * not count (buffers of readers and writers), measured with windows and sorts that spill.
 */
function engineMemory({ memoryBytes }: Pick<InstanceOptions, 'memoryBytes'>): string {
  return `${memoryBytes - Math.floor(memoryBytes / 8)}B`;
}

/** Settings that a lease needs to change while the configuration is locked. */
const changeableSettings = [
  'TimeZone',
  'threads',
  'memory_limit',
  'disabled_optimizers',
  'preserve_insertion_order',
  'arrow_lossless_conversion',
] as const;

/** Options for opening: what must hold before the first statement. */
export function openSettings(options: InstanceOptions): readonly (readonly [string, string])[] {
  return [
    ['threads', String(options.threads)],
    ['memory_limit', engineMemory(options)],
    ['autoinstall_known_extensions', 'false'],
    ['autoload_known_extensions', 'false'],
    ['allow_community_extensions', 'false'],
    ['allow_unsigned_extensions', 'false'],
  ];
}

const profilerSettings = JSON.stringify(Object.fromEntries(profilerMetrics.map((name) => [name, 'true'])));

/** By name, what sets the changeable settings as a fresh instance has them. */
export function initialSettings(options: InstanceOptions): ReadonlyMap<string, string> {
  return new Map([
    // Answers must not depend on the machine: the session's own zone is set per statement.
    ['TimeZone', "SET TimeZone = 'UTC'"],
    ['threads', `SET threads = ${options.threads}`],
    ['memory_limit', `SET memory_limit = '${engineMemory(options)}'`],
    ['disabled_optimizers', "SET disabled_optimizers = ''"],
    ['preserve_insertion_order', 'SET preserve_insertion_order = true'],
  ]);
}

/** Statements that configure and lock, in the order in which they must run. */
export function lockStatements(options: InstanceOptions): readonly string[] {
  const folders = [
    options.inputDirectory,
    ...(options.outputDirectory === undefined ? [] : [options.outputDirectory]),
    ...(options.reachableDirectories ?? []),
  ];
  const list = (values: readonly string[]) => `[${values.map(quoteText).join(', ')}]`;
  return [
    `SET allowed_directories = ${list(folders.map((folder) => (folder.endsWith('/') ? folder : `${folder}/`)))}`,
    'SET allowed_paths = []',
    `SET temp_directory = ${quoteText(options.tempDirectory)}`,
    `SET max_temp_directory_size = '${options.tempDirectoryBytes}B'`,
    'SET allow_persistent_secrets = false',
    ...initialSettings(options).values(),
    // How far the engine runs ahead of the reader: more is faster and costs as much memory for every sleeper
    // (docs/decisions.md).
    "SET streaming_buffer_size = '8MB'",
    // Partitioned files are written from rows in the order of their partitions: only a few are open at a time, and what
    // a thread collects before it writes, a row group, bounds the memory (fragment-fn, write/copy-sql.ts).
    'SET partitioned_write_max_open_files = 64',
    'SET partitioned_write_flush_threshold = 122880',
    'SET arrow_large_buffer_size = false',
    'SET arrow_output_list_view = false',
    'SET produce_arrow_string_view = false',
    "SET arrow_output_version = '1.0'",
    'SET enable_progress_bar = true',
    'SET enable_progress_bar_print = false',
    'SET progress_bar_time = 0',
    "PRAGMA enable_profiling = 'no_output'",
    `SET custom_profiling_settings = ${quoteText(profilerSettings)}`,
    `SET allowed_configs = ${list(changeableSettings)}`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ];
}
