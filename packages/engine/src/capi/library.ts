/**
 * Finds and loads libduckdb of the pinned package. The C structs and the plan JSON are tested against exactly one
 * version, so another one is refused.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { QueryError } from '@svc/base';
import koffi, { type LibraryHandle } from 'koffi';
import { type DuckDbFunctions, declareFunctions } from './functions.js';

/** What `duckdb_library_version` must answer. */
export const supportedDuckDbVersion = 'v1.5.5';

interface PlatformLibrary {
  readonly packageName: string;
  readonly fileName: string;
}

const libraries: Readonly<Record<string, PlatformLibrary>> = {
  'linux-x64': { packageName: '@duckdb/node-bindings-linux-x64', fileName: 'libduckdb.so' },
  'linux-arm64': { packageName: '@duckdb/node-bindings-linux-arm64', fileName: 'libduckdb.so' },
  'darwin-arm64': { packageName: '@duckdb/node-bindings-darwin-arm64', fileName: 'libduckdb.dylib' },
};

let loaded: DuckDbFunctions | undefined;

/**
 * The engine's functions, loaded once per thread. Throws CONFIGURATION_ERROR naming the missing package, the
 * unsupported platform, or the wrong version.
 */
export function duckDb(): DuckDbFunctions {
  loaded ??= loadDuckDb();
  return loaded;
}

function loadDuckDb(): DuckDbFunctions {
  const path = locateDuckDb(process.platform, process.arch);
  let handle: LibraryHandle;
  try {
    handle = koffi.load(path);
  } catch (cause) {
    throw new QueryError('CONFIGURATION_ERROR', 'The DuckDB library is installed but cannot be loaded.', {
      cause,
    });
  }
  const functions = declareFunctions(handle);
  assertVersion(functions.libraryVersion());
  return functions;
}

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

/** Throws CONFIGURATION_ERROR unless the version is the tested one. */
export function assertVersion(version: string): void {
  if (version !== supportedDuckDbVersion)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `The engine is tested with DuckDB ${supportedDuckDbVersion}; the library found is ${version}.`,
    );
}
