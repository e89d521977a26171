/** The small header of an event, beside Arrow's own bytes. */
import { type ErrorCode, errorCodes, QueryError, type SerializedError } from '@svc/base';
import type { FragmentStatistics } from '../request.js';
import { bigint, type Codec, double, flag, oneOf, record, required, text, uint, union } from './codec.js';
import { WireError, WireReader } from './wire-reader.js';
import { WireWriter } from './wire-writer.js';

export type EventHeader =
  | {
      readonly kind: 'message';
      readonly split: number;
      readonly messageKind: 'batch' | 'dictionary';
      readonly rowCount: number;
    }
  | {
      readonly kind: 'end';
      readonly split: number;
      readonly rowCount: bigint;
      readonly statistics: FragmentStatistics;
    }
  /** The last one: the task has failed. */
  | { readonly kind: 'error'; readonly error: SerializedError };

const maxHeaderBytes = 256 * 1024;

const count: Codec<bigint> = {
  write: (out, value) => bigint.write(out, value),
  read(input) {
    const value = bigint.read(input);
    return value < 0n || value >= 2n ** 64n ? input.fail('is no count') : value;
  },
};

const milliseconds: Codec<number> = {
  write: (out, value) => double.write(out, value),
  read(input) {
    const value = double.read(input);
    return value >= 0 && Number.isFinite(value) ? value : input.fail('is no time');
  },
};

const statistics = record<FragmentStatistics>({
  filesRead: required(1, uint),
  bytesStaged: required(2, uint),
  bytesFetched: required(3, uint),
  rowsScanned: required(4, count),
  rowsReturned: required(5, count),
  spilledBytes: required(6, count),
  peakMemoryBytes: required(7, count),
  stagingMs: required(8, milliseconds),
  engineMs: required(9, milliseconds),
});

/** A newer executor may have codes that are not known here. */
const errorCode: Codec<ErrorCode> = {
  write: (out, value) => out.text(value),
  read(input) {
    const code = input.text();
    return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'INTERNAL_ERROR';
  },
};

const error = record<SerializedError>({
  code: required(1, errorCode),
  message: required(2, text),
  retryable: required(3, flag),
});

const eventHeader = union<EventHeader>({
  message: [
    1,
    {
      split: required(1, uint),
      messageKind: required(2, oneOf({ batch: 1, dictionary: 2 })),
      rowCount: required(3, uint),
    },
  ],
  end: [2, { split: required(1, uint), rowCount: required(2, count), statistics: required(3, statistics) }],
  error: [3, { error: required(1, error) }],
});

export function encodeEventHeader(event: EventHeader): Uint8Array {
  const out = new WireWriter(maxHeaderBytes);
  eventHeader.write(out, event);
  return out.finish();
}

/** Throws EXECUTOR_LOST: who answers such a thing does not do its work. Fields of a newer executor are passed over. */
export function decodeEventHeader(bytes: Uint8Array): EventHeader {
  try {
    if (bytes.byteLength > maxHeaderBytes) throw new WireError('it is too large');
    return eventHeader.read(new WireReader(bytes, { skipsUnknown: true }));
  } catch (caught) {
    if (!(caught instanceof WireError)) throw caught;
    throw new QueryError(
      'EXECUTOR_LOST',
      `An executor answered what is no event of a fragment: ${caught.message}.`,
    );
  }
}
