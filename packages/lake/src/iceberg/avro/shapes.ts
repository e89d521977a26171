/**
 * What a reader wants of Avro data, resolved once against the schema that the file was written with (by field id): a
 * shape compiles to a function that reads one value. What is not asked for is skipped without being decoded.
 */
import { AvroError } from './avro-error.js';
import type { AvroCursor } from './cursor.js';
import type { AvroField, AvroType } from './schema.js';
import { compileSkip, type Skip } from './skip.js';

export type Read<T> = (cursor: AvroCursor) => T;

export interface Shape<T> {
  /** Throws an AvroError when the written type cannot be read as this shape. */
  compile(written: AvroType): Read<T>;
  /** The value when the file does not have the field at all; without it such a file is damaged. */
  readonly absent?: { readonly value: T };
}

/** A field of a wanted record: by Iceberg's id, or by name in files without ids. */
export interface FieldShape<T> {
  readonly id: number;
  readonly name: string;
  readonly shape: Shape<T>;
}

export const integer: Shape<number> = {
  compile: (written) => expectKind(written, ['int', 'long'], (cursor) => cursor.integer()),
};

export const long: Shape<bigint> = {
  compile: (written) => expectKind(written, ['int', 'long'], (cursor) => cursor.long()),
};

export const boolean: Shape<boolean> = {
  compile: (written) => expectKind(written, ['boolean'], (cursor) => cursor.boolean()),
};

export const floating: Shape<number> = {
  compile: (written) =>
    written.kind === 'float'
      ? (cursor) => cursor.float()
      : expectKind(written, ['double'], (cursor) => cursor.double()),
};

export const text: Shape<string> = {
  compile: (written) => expectKind(written, ['string'], (cursor) => cursor.text()),
};

/** Views of the block's memory: copy what must outlive it. */
export const bytes: Shape<Uint8Array> = {
  compile: (written) =>
    written.kind === 'fixed'
      ? (cursor) => cursor.take(written.size)
      : expectKind(written, ['bytes', 'string'], (cursor) => cursor.byteString()),
};

/** Passes over whatever is there. */
export const skipped: Shape<undefined> = {
  compile: (written) => {
    const skip = compileSkip(written);
    return (cursor) => {
      skip(cursor);
      return undefined;
    };
  },
};

/** Null, or the field not being there, is `null`. */
export function optional<T>(shape: Shape<T>): Shape<T | null> {
  return { absent: { value: null }, compile: (written) => compileNullable(written, shape) };
}

/** Null, or the field not being there, is `value`. */
export function withDefault<T>(shape: Shape<T>, value: T): Shape<T> {
  return {
    absent: { value },
    compile: (written) => {
      const read = compileNullable(written, shape);
      return (cursor) => read(cursor) ?? value;
    },
  };
}

/** More than `maxItems` are damage, or an attack: an item of one byte becomes an object of a hundred. */
export function list<T>(item: Shape<T>, maxItems = 1_000_000): Shape<readonly T[]> {
  return {
    compile(written) {
      if (written.kind !== 'array') throw mismatch(written, 'a list');
      const read = compileRequired(written.items, item);
      return (cursor) => {
        const items: T[] = [];
        for (let count = cursor.blockCount(); count > 0; count = cursor.blockCount()) {
          if (items.length + count > maxItems) throw new AvroError(`a list has more than ${maxItems} items`);
          for (; count > 0; count--) items.push(read(cursor));
        }
        return items;
      };
    },
  };
}

/** A map with integer keys, written as a list of pairs. Of the entries only those with a key in `wanted` are decoded. */
export function integerMap<T>(value: Shape<T>, wanted?: ReadonlySet<number>): Shape<ReadonlyMap<number, T>> {
  return {
    compile(written) {
      const pair = written.kind === 'array' ? written.items : undefined;
      const [key, val] = pair?.kind === 'record' ? pair.fields : [];
      if (key === undefined || val === undefined) throw mismatch(written, 'a map with integer keys');
      return readPairs(
        integer.compile(key.type),
        compileRequired(val.type, value),
        compileSkip(val.type),
        wanted,
      );
    },
  };
}

function readPairs<T>(
  readKey: Read<number>,
  readValue: Read<T>,
  skipValue: Skip,
  wanted: ReadonlySet<number> | undefined,
): Read<ReadonlyMap<number, T>> {
  const none: ReadonlyMap<number, T> = new Map();
  return (cursor) => {
    let entries: Map<number, T> | undefined;
    for (let count = cursor.blockCount(); count > 0; count = cursor.blockCount())
      for (; count > 0; count--) {
        const key = readKey(cursor);
        if (wanted === undefined || wanted.has(key)) {
          entries ??= new Map();
          entries.set(key, readValue(cursor));
        } else skipValue(cursor);
      }
    return entries ?? none;
  };
}

type Fields<T> = { readonly [K in keyof T]: FieldShape<T[K]> };

/** A record as an object with the keys of `fields`. */
export function record<T extends object>(fields: Fields<T>): Shape<T> {
  const wanted = Object.entries(fields) as [keyof T & string, FieldShape<unknown>][];
  return {
    compile(written) {
      if (written.kind !== 'record') throw mismatch(written, 'a record');
      const steps = written.fields.map((field) => {
        const [key, want] = wanted.find(([, shape]) => isSameField(field, shape)) ?? [];
        return key === undefined || want === undefined
          ? { key: '', read: compileSkip(field.type) }
          : { key, read: compileNamed(field, want.shape) };
      });
      const template: Record<string, unknown> = {};
      for (const [key, field] of wanted)
        template[key] = absentValue(
          field,
          steps.some((step) => step.key === key),
        );
      return (cursor) => {
        const result = { ...template };
        for (const step of steps) {
          if (step.key === '') step.read(cursor);
          else result[step.key] = step.read(cursor);
        }
        return result as T;
      };
    },
  };
}

/** A record as a list of values in the order of `fields`; what the file does not have is `null`. */
export function row<T>(fields: readonly FieldShape<T>[]): Shape<readonly (T | null)[]> {
  return {
    compile(written) {
      if (written.kind !== 'record') throw mismatch(written, 'a record');
      const steps = written.fields.map((field) => {
        const slot = fields.findIndex((shape) => isSameField(field, shape));
        const shape = fields[slot]?.shape;
        return shape === undefined
          ? { slot, read: compileSkip(field.type) }
          : { slot, read: compileNamed(field, optional(shape)) };
      });
      return (cursor) => {
        const values = new Array<T | null>(fields.length).fill(null);
        for (const { slot, read } of steps) {
          if (slot < 0) read(cursor);
          else values[slot] = read(cursor) as T | null;
        }
        return values;
      };
    },
  };
}

/** Where the value starts in the block; it is skipped now, and read later by `readAt` if it turns out to be needed. */
export function deferred<T>(shape: Shape<T>): Shape<Deferred<T>> {
  return {
    compile(written) {
      const read = compileRequired(written, shape);
      const skip = compileSkip(written);
      return (cursor) => {
        const start = cursor.position;
        skip(cursor);
        return { cursor, start, read };
      };
    },
  };
}

export interface Deferred<T> {
  readonly cursor: AvroCursor;
  readonly start: number;
  readonly read: Read<T>;
}

export function readDeferred<T>({ cursor, start, read }: Deferred<T>): T {
  const position = cursor.position;
  cursor.position = start;
  try {
    return read(cursor);
  } finally {
    cursor.position = position;
  }
}

/** Readers by what they read and what was written; both live as long as somebody holds them. */
const readers = new WeakMap<Shape<unknown>, WeakMap<AvroType, Read<unknown>>>();

/** The compiled reader of a shape, one for all files of the same schema: fresh code for every file would stay slow. */
export function readerOf<T>(written: AvroType, shape: Shape<T>): Read<T> {
  const known = readers.get(shape) ?? new WeakMap<AvroType, Read<unknown>>();
  readers.set(shape, known);
  const read = (known.get(written) as Read<T> | undefined) ?? compileRequired(written, shape);
  known.set(written, read);
  return read;
}

/** A value that must be there, whose type may still be written as a union with null. */
function compileRequired<T>(written: AvroType, shape: Shape<T>): Read<T> {
  if (written.kind !== 'union' || shape.absent !== undefined) return shape.compile(written);
  const read = compileNullable(written, shape);
  return (cursor) => {
    const value = read(cursor);
    if (value === null) throw new AvroError('a required value is null');
    return value;
  };
}

function compileNullable<T>(written: AvroType, shape: Shape<T>): Read<T | null> {
  if (written.kind === 'null') return () => null;
  if (written.kind !== 'union') return shape.compile(written);
  const branches = written.branches.map((branch): Read<T | null> => {
    return branch.kind === 'null' ? () => null : shape.compile(branch);
  });
  return (cursor) => {
    const read = branches[cursor.integer()];
    if (read === undefined) throw new AvroError('a value has a type that its schema does not list');
    return read(cursor);
  };
}

function compileNamed<T>(field: AvroField, shape: Shape<T>): Read<T> {
  try {
    return compileRequired(field.type, shape);
  } catch (error) {
    if (error instanceof AvroError) throw new AvroError(`field ${field.name}: ${error.message}`);
    throw error;
  }
}

function absentValue(field: FieldShape<unknown>, isWritten: boolean): unknown {
  if (isWritten || field.shape.absent !== undefined) return field.shape.absent?.value;
  throw new AvroError(`its records do not have the field ${field.name}`);
}

function isSameField(field: AvroField, shape: FieldShape<unknown>): boolean {
  return field.fieldId === undefined ? field.name === shape.name : field.fieldId === shape.id;
}

function expectKind<T>(written: AvroType, kinds: readonly string[], read: Read<T>): Read<T> {
  if (!kinds.includes(written.kind)) throw mismatch(written, kinds.join(' or '));
  return read;
}

function mismatch(written: AvroType, wanted: string): AvroError {
  return new AvroError(`a value is written as ${written.kind}, where ${wanted} is expected`);
}
