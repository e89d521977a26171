/**
 * Page codecs. Zstandard and Snappy are those that the engine's library carries for its own Parquet reader: as fast as
 * it is, and one copy of them in the process. They have C++ names, which hold for the pinned version (and its tests).
 */
import { gunzipSync } from 'node:zlib';
import koffi, { type LibraryHandle } from 'koffi';
import type { ParquetReadChunk } from '../api.js';
import { locateDuckDb } from '../capi/locate-library.js';

/** Fills `target` exactly; false when the bytes are damaged or are of another length. */
export type Decompress = (source: Uint8Array, target: Uint8Array) => boolean;

type Codec = ParquetReadChunk['codec'];

let codecs: Readonly<Record<Codec, Decompress>> | undefined;

export function decompressorOf(codec: Codec): Decompress {
  codecs ??= loadCodecs(koffi.load(locateDuckDb(process.platform, process.arch)));
  return codecs[codec];
}

function loadCodecs(library: LibraryHandle): Readonly<Record<Codec, Decompress>> {
  const zstdContext = library.func('uint64_t _ZN11duckdb_zstd15ZSTD_createDCtxEv()');
  const zstd = library.func(
    'uint64_t _ZN11duckdb_zstd19ZSTD_decompressDCtxEPNS_11ZSTD_DCtx_sEPvmPKvm(uint64_t context, uint8_t* target, uint64_t room, uint8_t* source, uint64_t bytes)',
  );
  const snappy = library.func(
    'bool _ZN13duckdb_snappy13RawUncompressEPKcmPc(uint8_t* source, uint64_t bytes, uint8_t* target)',
  );
  const snappyLength = library.func(
    'bool _ZN13duckdb_snappy21GetUncompressedLengthEPKcmPm(uint8_t* source, uint64_t bytes, _Out_ uint64_t* length)',
  );
  // One for the process: calls are made one after the other, and each begins anew.
  let context: unknown;
  return {
    uncompressed: (source, target) => {
      if (source.length !== target.length) return false;
      target.set(source);
      return true;
    },
    zstd: (source, target) => {
      context ??= zstdContext();
      return zstd(context, target, target.length, source, source.length) === target.length;
    },
    snappy: (source, target) => {
      const length: [number] = [0];
      // Snappy writes what its own header claims: it must be what there is room for.
      return (
        snappyLength(source, source.length, length) &&
        length[0] === target.length &&
        snappy(source, source.length, target)
      );
    },
    gzip: (source, target) => {
      try {
        const bytes = gunzipSync(source, { maxOutputLength: Math.max(1, target.length) });
        if (bytes.length !== target.length) return false;
        target.set(bytes);
        return true;
      } catch {
        return false;
      }
    },
  };
}
