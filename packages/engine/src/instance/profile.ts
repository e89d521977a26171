/** What a statement took: from the engine's profiler, and from the operating system. */
import type { EngineProfile } from '../api.js';
import type { DuckDbFunctions } from '../capi/functions.js';
import { takeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';

/**
 * What the profiler collects. Timers are left out: the engine's CPU_TIME adds up wall time of threads, which grows on a
 * busy machine. So is its count of scanned rows: of Parquet files it is an estimate times the number of threads (1.5.5).
 */
export const profilerMetrics = [
  'OPERATOR_TYPE',
  'OPERATOR_CARDINALITY',
  'SYSTEM_PEAK_BUFFER_MEMORY',
  'SYSTEM_PEAK_TEMP_DIR_SIZE',
] as const;

/** The profile of the statement that has just ended on the connection, started when `cpuAtStart` was taken. */
export function readProfile(
  functions: DuckDbFunctions,
  connection: Address,
  rowsReturned: bigint,
  cpuAtStart: NodeJS.CpuUsage,
): EngineProfile {
  const cpu = process.cpuUsage(cpuAtStart);
  const root = functions.profilingInfo(connection);
  const count = (name: (typeof profilerMetrics)[number]) =>
    root === 0 ? 0n : countOf(readMetric(functions, root, name));
  return {
    rowsReturned,
    rowsScanned: root === 0 ? 0n : scannedRows(functions, root),
    spilledBytes: count('SYSTEM_PEAK_TEMP_DIR_SIZE'),
    peakMemoryBytes: count('SYSTEM_PEAK_BUFFER_MEMORY'),
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

/** Rows that the scans of the plan handed on: those read and not dropped by a filter inside the scan. */
function scannedRows(functions: DuckDbFunctions, info: Address): bigint {
  const isScan = readMetric(functions, info, 'OPERATOR_TYPE') === 'TABLE_SCAN';
  let rows = isScan ? countOf(readMetric(functions, info, 'OPERATOR_CARDINALITY')) : 0n;
  const childCount = functions.profilingChildCount(info);
  for (let index = 0; index < childCount; index++)
    rows += scannedRows(functions, functions.profilingChild(info, index));
  return rows;
}

function readMetric(functions: DuckDbFunctions, info: Address, name: string): string {
  const value = functions.profilingValue(info, name);
  if (value === 0) return '';
  try {
    return takeText(functions, functions.valueText(value));
  } finally {
    functions.destroyValue([value]);
  }
}

function countOf(text: string): bigint {
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}
