import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const machines = { arm64: 183, x86_64: 62 } as const;

/** The first bytes of a library, which are all that is looked at. */
export function libraryOf(architecture: keyof typeof machines): Buffer {
  const header = Buffer.alloc(64);
  header.write('\u007fELF', 'latin1');
  header.writeUInt16LE(machines[architecture], 18);
  return header;
}

/** A folder as scripts/bundle-fragment-fn.mjs makes it for Linux arm64. */
export function writeFakeBundle(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.mjs'), 'export const handler = awslambda.streamifyResponse(() => {});\n');
  writeFileSync(join(folder, 'libduckdb.so'), libraryOf('arm64'));
  writeFileSync(join(folder, 'koffi.node'), libraryOf('arm64'));
}
