/** A session inside this process: the service's planner and engines over a catalog folder, without a listener. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { type Config, createMetrics, QueryError, silentLogger } from '@svc/base';
import { openEmbedded } from '@svc/coordinator';
import { serviceVersion } from '../../version.js';
import type { SqlSession } from '../answer/answer.js';

export interface EmbeddedSessionOptions {
  readonly config: Config;
  /** Whether an engine process is to be started at once: statements on tables need one. */
  readonly startsHost: boolean;
  /** Whether a new folder gets the sample table. */
  readonly makesSamples: boolean;
  readonly signal: AbortSignal;
  /** For a person to read, on standard error. */
  readonly progress: (text: string) => void;
}

/** Opens the catalog folder; a new one may get the sample table, as `svc serve` makes it. */
export async function openEmbeddedSession(options: EmbeddedSessionOptions): Promise<SqlSession> {
  const { config, startsHost, makesSamples, signal, progress } = options;
  const metrics = createMetrics();
  const service = await openEmbedded({
    config,
    logger: silentLogger,
    metrics,
    version: serviceVersion,
    startsHost,
    paths: { workingDirectory: process.cwd(), homeDirectory: homedir() },
  }).catch((error: unknown) => {
    throw folderError(error);
  });
  try {
    if (makesSamples && config['samples.enabled'] && !existsSync(config['catalog.path'])) {
      const { registerSamples } = await import('../../samples/flights.js');
      await registerSamples({ config, logger: silentLogger, signal, progress });
    }
  } catch (error) {
    await service.close();
    throw error;
  }
  return {
    description: `catalog "${config['catalog.name']}" in ${config['catalog.path']}`,
    run: async (sql, runOptions) => {
      const { schema, messages } = await service.run(sql, runOptions);
      const iterator = messages[Symbol.asyncIterator]();
      // Whoever ends the answer must get the iterator that reads it.
      return { schema, messages: { [Symbol.asyncIterator]: () => iterator } };
    },
    close: () => service.close(),
  };
}

/** What the operating system says about our folders is about the configuration. */
function folderError(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error)) return error;
  const code = 'code' in error ? String(error.code) : 'no code';
  return new QueryError(
    'CONFIGURATION_ERROR',
    `The folder ${String(error.path)} cannot be used: the operating system answered ${code}. server.data_dir says where ours are, TMPDIR where temporary ones are.`,
    { cause: error },
  );
}
