import { AvroError } from './avro-error.js';
import type { AvroCursor } from './cursor.js';
import type { AvroType } from './schema.js';

export type Skip = (cursor: AvroCursor) => void;

/** A function that moves past one value without decoding it. */
export function compileSkip(type: AvroType): Skip {
  switch (type.kind) {
    case 'null':
      return () => undefined;
    case 'boolean':
      return (cursor) => void cursor.advance(1);
    case 'int':
    case 'long':
    case 'enum':
      return (cursor) => cursor.skipLong();
    case 'float':
      return (cursor) => void cursor.advance(4);
    case 'double':
      return (cursor) => void cursor.advance(8);
    case 'bytes':
    case 'string':
      return (cursor) => cursor.skipBytes();
    case 'fixed':
      return (cursor) => void cursor.advance(type.size);
    case 'array':
      return skipBlocks(compileSkip(type.items));
    case 'map': {
      const skipValue = compileSkip(type.values);
      return skipBlocks((cursor) => {
        cursor.skipBytes();
        skipValue(cursor);
      });
    }
    case 'union':
      return skipUnion(type.branches.map(compileSkip));
    case 'record': {
      const fields = type.fields.map((field) => compileSkip(field.type));
      return (cursor) => {
        for (const skip of fields) skip(cursor);
      };
    }
  }
}

function skipUnion(branches: readonly Skip[]): Skip {
  return (cursor) => {
    const skip = branches[cursor.integer()];
    if (skip === undefined) throw new AvroError('a value has a type that its schema does not list');
    skip(cursor);
  };
}

/** A writer may give a block's size in bytes (its count is then negative); such a block is passed in one step. */
function skipBlocks(skipItem: Skip): Skip {
  return (cursor) => {
    for (;;) {
      const count = cursor.integer();
      if (count === 0) return;
      if (count < 0) {
        cursor.skipBytes();
        continue;
      }
      if (count > cursor.remaining)
        throw new AvroError(`a list of ${count} items does not fit into the data`);
      for (let left = count; left > 0; left--) skipItem(cursor);
    }
  };
}
