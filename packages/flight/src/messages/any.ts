import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import { QueryError } from '@svc/base';
import { asBuffer } from '../arrow/as-buffer.js';
import { file_Flight } from '../gen/Flight_pb.js';
import { file_FlightSql } from '../gen/FlightSql_pb.js';

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
  return asBuffer(toBinary(AnySchema, anyPack(schema, create(schema, init))));
}

/** What an Any holds: the descriptor found by the type URL's last segment, and the value not yet decoded. */
export interface UnpackedAny {
  readonly typeName: string;
  readonly schema: DescMessage | undefined;
  readonly value: Uint8Array;
}

/** Opens an Any. Throws INVALID_ARGUMENT naming `what` when the bytes are none. */
export function unpackAny(bytes: Uint8Array, what: string): UnpackedAny {
  const any = decodeMessage(AnySchema, bytes, what);
  const typeName = any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1);
  if (typeName === '')
    throw new QueryError('INVALID_ARGUMENT', `${what} is not a Flight SQL message in an Any.`);
  return { typeName, schema: registry.getMessage(typeName), value: any.value };
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
