import { EngineInstance } from '../instance/engine-instance.js';
import { type InstanceOptions, initialSettings } from '../instance/lock-down.js';
import type { EngineRuntime, HostInstance } from './instance-interface.js';

/** DuckDB in this process. `maxMessageBytes` bounds one Arrow message, header included. */
export function createDuckDbRuntime(maxMessageBytes: number): EngineRuntime {
  return {
    open: ({ limits, inputDirectory, tempDirectory }) =>
      openInstance({ ...limits, inputDirectory, tempDirectory, maxMessageBytes }),
    controlModule: new URL('./duckdb-control.js', import.meta.url).href,
  };
}

/** Statements that leave nothing behind, and those that only change a setting; anything else may leave names. */
const query = /^\s*(?:select|with|from|values)\b/i;
const setting = /^\s*set\s+(?!variable\b)\w+\s*=/i;

/**
 * An instance that knows when a reset is cheap: listing what a statement may have created takes the engine four
 * milliseconds, which is more than a small query; setting the settings again takes a quarter of one.
 */
function openInstance(options: InstanceOptions): HostInstance {
  const instance = EngineInstance.open(options);
  let traces: 'none' | 'settings' | 'names' = 'none';
  return {
    connectionAddress: instance.connectionAddress,
    get isUnusable() {
      return instance.isUnusable;
    },
    execute(statements) {
      if (!statements.every((sql) => setting.test(sql))) traces = 'names';
      else if (traces === 'none') traces = 'settings';
      instance.execute(statements);
    },
    queryText: (sql, parameters) => instance.queryText(sql, parameters),
    describe: (sql, arrow, parameters) => instance.describe(sql, arrow, parameters),
    query(request) {
      if (!query.test(request.sql)) traces = 'names';
      return instance.query(request);
    },
    ingest(table) {
      traces = 'names';
      return instance.ingest(table);
    },
    reset() {
      if (traces === 'settings') instance.execute(initialSettings(options));
      else if (traces === 'names') instance.reset();
      traces = 'none';
    },
    close: () => instance.close(),
  };
}
