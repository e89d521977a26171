/** What the engine's profiler says of the statement that ran last on a connection. */
import type { EngineProfile } from '../api.js';
import type { DuckDbFunctions } from '../capi/functions.js';
import { takeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';

/**
 * Metrics of the root node only: the per-operator ones would cost a timer around every operator call. CPU_TIME is
 * derived from operator timing.
 */
export const profilerSettings = {
  CPU_TIME: 'true',
  CUMULATIVE_ROWS_SCANNED: 'true',
  SYSTEM_PEAK_BUFFER_MEMORY: 'true',
  SYSTEM_PEAK_TEMP_DIR_SIZE: 'true',
} as const;

/** Zeros for what the profiler does not know, for example after a statement that did not start. */
export function readProfile(
  functions: DuckDbFunctions,
  connection: Address,
  rowsReturned: bigint,
): EngineProfile {
  const metrics = readMetrics(functions, connection);
  return {
    rowsReturned,
    rowsScanned: countOf(metrics.get('CUMULATIVE_ROWS_SCANNED')),
    spilledBytes: countOf(metrics.get('SYSTEM_PEAK_TEMP_DIR_SIZE')),
    peakMemoryBytes: countOf(metrics.get('SYSTEM_PEAK_BUFFER_MEMORY')),
    cpuSeconds: Number(metrics.get('CPU_TIME') ?? '0') || 0,
  };
}

function readMetrics(functions: DuckDbFunctions, connection: Address): ReadonlyMap<string, string> {
  const metrics = new Map<string, string>();
  const info = functions.profilingInfo(connection);
  if (info === 0) return metrics;
  const map = functions.profilingMetrics(info);
  if (map === 0) return metrics;
  try {
    const size = functions.mapSize(map);
    for (let index = 0; index < size; index++)
      metrics.set(
        takeValueText(functions, functions.mapKey(map, index)),
        takeValueText(functions, functions.mapValue(map, index)),
      );
  } finally {
    functions.destroyValue([map]);
  }
  return metrics;
}

function takeValueText(functions: DuckDbFunctions, value: Address): string {
  if (value === 0) return '';
  try {
    return takeText(functions, functions.valueText(value));
  } finally {
    functions.destroyValue([value]);
  }
}

function countOf(text: string | undefined): bigint {
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : 0n;
}
