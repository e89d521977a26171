import { type JsonValue, parseJson, printJson } from '@svc/lake';
import { bigint, bytes, type Codec, double, entries, flag, lazy, list, text } from './codec.js';
import type { WireReader } from './wire-reader.js';

const kinds = { null: 0, flag: 1, text: 2, number: 3, bigint: 4, bytes: 5, list: 6, object: 7 } as const;

/** Plain data of any form, as constants of scans are. */
export const plain: Codec<unknown> = {
  write(out, value) {
    const kind = kindOf(value);
    out.byte(kinds[kind]);
    if (kind !== 'null') codecs[kind].write(out, value as never);
  },
  read(input) {
    switch (input.byte()) {
      case kinds.null:
        return null;
      case kinds.flag:
        return flag.read(input);
      case kinds.text:
        return text.read(input);
      case kinds.number:
        return double.read(input);
      case kinds.bigint:
        return bigint.read(input);
      case kinds.bytes:
        return bytes.read(input);
      case kinds.list:
        return codecs.list.read(input);
      case kinds.object:
        return codecs.object.read(input);
      default:
        return input.fail('is of a kind that is not known here');
    }
  },
};

const itself = lazy(() => plain);
const codecs = { flag, text, number: double, bigint, bytes, list: list(itself), object: entries(itself) };

function kindOf(value: unknown): keyof typeof kinds {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'boolean':
      return 'flag';
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'bigint':
      return 'bigint';
    case 'object':
      return 'object';
    default:
      throw new TypeError(`A ${typeof value} does not travel.`);
  }
}

const maxJsonBytes = 2 ** 20;

/** JSON whose numbers have kept their digits. */
export const json: Codec<JsonValue> = {
  write: (out, value) => out.text(printJson(value)),
  read: (input: WireReader) => {
    if (input.remaining > maxJsonBytes) input.fail('is too large');
    const written = input.text();
    try {
      return parseJson(written, 'a default');
    } catch {
      return input.fail('is no JSON');
    }
  },
};
