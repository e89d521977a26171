/** Where libduckdb of the pinned package lies. In the bundle of the function it lies beside it: scripts/bundle-fragment-fn.mjs. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { QueryError } from '@svc/base';

interface PlatformLibrary {
  readonly packageName: string;
  readonly fileName: string;
}

const libraries: Readonly<Record<string, PlatformLibrary>> = {
  'linux-x64': { packageName: '@duckdb/node-bindings-linux-x64', fileName: 'libduckdb.so' },
  'linux-arm64': { packageName: '@duckdb/node-bindings-linux-arm64', fileName: 'libduckdb.so' },
  'darwin-arm64': { packageName: '@duckdb/node-bindings-darwin-arm64', fileName: 'libduckdb.dylib' },
};

/** Path of the shared library for a platform. Throws CONFIGURATION_ERROR. */
export function locateDuckDb(
  platform: string,
  architecture: string,
  resolve: (request: string) => string = createRequire(import.meta.url).resolve,
): string {
  const library = libraries[`${platform}-${architecture}`];
  if (library === undefined)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `The engine does not run on ${platform} ${architecture}; it runs on ${Object.keys(libraries).join(', ')}.`,
    );
  const missing = (cause?: unknown) =>
    new QueryError(
      'CONFIGURATION_ERROR',
      `The engine needs the package ${library.packageName}, which is not installed: run npm install without --omit=optional.`,
      { cause },
    );
  let folder: string;
  try {
    folder = dirname(resolve(`${library.packageName}/package.json`));
  } catch (cause) {
    throw missing(cause);
  }
  const path = join(folder, library.fileName);
  if (!existsSync(path)) throw missing();
  return path;
}
