/** Engine instances over temporary folders, and results as whole IPC streams: for tests of this package. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encapsulate } from '../arrow/ipc-encode.js';
import { EngineInstance, type InstanceQuery } from '../instance/engine-instance.js';
import type { InstanceOptions } from '../instance/lock-down.js';

export interface TemporaryInstance extends Disposable {
  readonly instance: EngineInstance;
  readonly folder: string;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
}

/** An instance of two threads; folders and instance go away with the scope. */
export function openTemporaryInstance(options: Partial<InstanceOptions> = {}): TemporaryInstance {
  const folder = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  const path = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const inputDirectory = path('input');
  const outputDirectory = path('output');
  const instance = EngineInstance.open({
    memoryBytes: 512 * 1024 * 1024,
    threads: 2,
    tempDirectory: path('temp'),
    tempDirectoryBytes: 256 * 1024 * 1024,
    inputDirectory,
    outputDirectory,
    ...options,
  });
  return {
    instance,
    folder,
    inputDirectory,
    outputDirectory,
    [Symbol.dispose]: () => {
      instance.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface CollectedResult {
  /** A complete IPC stream. */
  readonly stream: Uint8Array;
  readonly bodyBytes: readonly number[];
  readonly rowCounts: readonly number[];
}

/** Reads a result to its end through one region that is used again for every message. */
export function collectResult(
  instance: EngineInstance,
  query: Pick<InstanceQuery, 'sql'> & Partial<InstanceQuery>,
  regionBytes = 1024 * 1024,
): CollectedResult {
  const cursor = instance.query({ arrow: 'client', ...query });
  const region = new Uint8Array(new ArrayBuffer(regionBytes)).fill(0xaa);
  const parts: Uint8Array[] = [cursor.schema];
  const bodyBytes: number[] = [];
  const rowCounts: number[] = [];
  try {
    for (let message = cursor.next(region); message !== undefined; message = cursor.next(region)) {
      parts.push(encapsulate(message.header), message.body.slice());
      bodyBytes.push(message.body.byteLength);
      if (message.kind === 'batch') rowCounts.push(message.rowCount);
      region.fill(0xaa);
    }
  } finally {
    cursor.close();
  }
  parts.push(endOfStream);
  return { stream: Buffer.concat(parts), bodyBytes, rowCounts };
}

const endOfStream = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);
