import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { QueryError } from '@svc/base';
import { asBuffer } from '../arrow/as-buffer.js';
import { file_Flight } from '../gen/Flight_pb.js';
import { file_FlightSql } from '../gen/FlightSql_pb.js';

/** Field numbers of google.protobuf.Any. */
const ANY_TYPE_URL = 1;
const ANY_VALUE = 2;

const registry = createRegistry(file_Flight, file_FlightSql);

/** Reads one protobuf message; what does not parse is INVALID_ARGUMENT naming `what`, never a decoder's own error. */
export function decodeMessage<D extends DescMessage>(schema: D, bytes: Uint8Array, what: string) {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new QueryError('INVALID_ARGUMENT', `${what} is not a valid ${schema.name} message.`, { cause });
  }
}

/** The bytes of one message. */
export function encodeMessage<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Buffer {
  return asBuffer(toBinary(schema, create(schema, init)));
}

/** The bytes of an Any around one message, as Flight SQL wraps commands, tickets and most action bodies. */
export function packAny<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Buffer {
  return asBuffer(
    new BinaryWriter()
      .tag(ANY_TYPE_URL, WireType.LengthDelimited)
      .string(`type.googleapis.com/${schema.typeName}`)
      .tag(ANY_VALUE, WireType.LengthDelimited)
      .bytes(toBinary(schema, create(schema, init)))
      .finish(),
  );
}

/** What an Any holds: the descriptor found by the type URL's last segment, and the value not yet decoded. */
export interface UnpackedAny {
  readonly typeName: string;
  readonly schema: DescMessage | undefined;
  readonly value: Uint8Array;
}

/** Opens an Any. Throws INVALID_ARGUMENT naming `what` when the bytes are none. */
export function unpackAny(bytes: Uint8Array, what: string): UnpackedAny {
  const { typeUrl, value } = readAny(bytes, what);
  const typeName = typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
  if (typeName === '')
    throw new QueryError('INVALID_ARGUMENT', `${what} is not a Flight SQL message in an Any.`);
  return { typeName, schema: registry.getMessage(typeName), value };
}

/** Each call carries one to three of these: read by hand, they cost a fraction of what the descriptor's reader takes. */
function readAny(bytes: Uint8Array, what: string): { readonly typeUrl: string; readonly value: Uint8Array } {
  let typeUrl = '';
  let value: Uint8Array = new Uint8Array(0);
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === ANY_TYPE_URL && wireType === WireType.LengthDelimited) typeUrl = reader.string();
      else if (field === ANY_VALUE && wireType === WireType.LengthDelimited) value = reader.bytes();
      else reader.skip(wireType, field);
    }
  } catch (cause) {
    throw new QueryError('INVALID_ARGUMENT', `${what} is not a valid Any message.`, { cause });
  }
  return { typeUrl, value };
}

/** Opens an Any that must hold one given type, such as the body of an action. */
export function unpackAnyOf<D extends DescMessage>(schema: D, bytes: Uint8Array, what: string) {
  const any = unpackAny(bytes, what);
  if (any.typeName !== schema.typeName) {
    throw new QueryError(
      'INVALID_ARGUMENT',
      `${what} must hold ${schema.typeName}, not ${quoteTypeName(any.typeName)}.`,
    );
  }
  return decodeMessage(schema, any.value, what);
}

/** A type name as it may stand in an error text: bounded, because it comes from the wire. */
export function quoteTypeName(typeName: string): string {
  return `"${typeName.length > 100 ? `${typeName.slice(0, 100)}…` : typeName}"`;
}
