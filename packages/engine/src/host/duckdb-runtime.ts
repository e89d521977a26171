import { EngineInstance } from '../instance/engine-instance.js';
import type { EngineRuntime } from './instance-interface.js';

/** DuckDB in this process. `maxMessageBytes` bounds one Arrow message, header included. */
export function createDuckDbRuntime(maxMessageBytes: number): EngineRuntime {
  return {
    open: ({ limits, ...folders }) => EngineInstance.open({ ...limits, ...folders, maxMessageBytes }),
    controlModule: new URL('./duckdb-control.js', import.meta.url).href,
  };
}
