/**
 * Loads libduckdb of the pinned package. The C structs and the plan JSON are tested against exactly one
 * version, so another one is refused.
 */
import { QueryError } from '@svc/base';
import koffi, { type LibraryHandle } from 'koffi';
import { type DuckDbFunctions, declareFunctions } from './functions.js';
import { locateDuckDb } from './locate-library.js';

/** What `duckdb_library_version` must answer. */
export const supportedDuckDbVersion = 'v1.5.5';

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

/** Throws CONFIGURATION_ERROR unless the version is the tested one. */
export function assertVersion(version: string): void {
  if (version !== supportedDuckDbVersion)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `The engine is tested with DuckDB ${supportedDuckDbVersion}; the library found is ${version}.`,
    );
}
