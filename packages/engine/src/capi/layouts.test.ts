import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { OutAddress } from './functions.js';
import { arrowArrayLayout, arrowSchemaLayout, duckDbResultLayout } from './layouts.js';
import { assertVersion, duckDb, supportedDuckDbVersion } from './library.js';
import { locateDuckDb } from './locate-library.js';
import { addressOf, readInt32, readText, releaseArrowStruct, window } from './memory.js';

const word = 8;

test('the library is the pinned version', () => {
  assert.equal(duckDb().libraryVersion(), supportedDuckDbVersion);
  assert.equal(supportedDuckDbVersion, 'v1.5.5');
});

test('another version is refused by name', () => {
  assert.throws(
    () => assertVersion('v1.6.0'),
    (error) => error instanceof QueryError && /v1\.6\.0/.test(error.message),
  );
});

test('a platform without a library is refused, and a missing package is named', () => {
  assert.throws(() => locateDuckDb('win32', 'x64'), /does not run on win32 x64/);
  const resolve = (): string => {
    throw new Error('Cannot find module');
  };
  assert.throws(
    () => locateDuckDb('linux', 'arm64', resolve),
    (error) => error instanceof QueryError && /@duckdb\/node-bindings-linux-arm64/.test(error.message),
  );
});

test('a result is six words with the internal data last', () => {
  withConnection((connection) => {
    const functions = duckDb();
    const guard = 0xa5;
    const memory = new Uint8Array(new ArrayBuffer(duckDbResultLayout.size + word)).fill(guard);
    assert.equal(functions.query(connection, 'SELECT 42 AS answer', addressOf(memory)), 0);
    assert.deepEqual([...memory.subarray(duckDbResultLayout.size)], Array(word).fill(guard));
    window.load(addressOf(memory) + duckDbResultLayout.internalData, word);
    assert.notEqual(window.word(0), 0);
    assert.equal(functions.resultColumnCount(addressOf(memory)), 1);
    functions.destroyResult(addressOf(memory));
  });
});

test('the Arrow structs have the sizes and offsets of the C data interface', () => {
  withConnection((connection) => {
    const functions = duckDb();
    const options: OutAddress = [0];
    functions.connectionArrowOptions(connection, options);
    const type = functions.createLogicalType(4);
    const types = new Uint8Array(new BigUint64Array([BigInt(type)]).buffer);
    const name = Buffer.from('number\0');
    const names = new Uint8Array(new BigUint64Array([BigInt(addressOf(name))]).buffer);
    const guard = 0x5a;
    const schema = new Uint8Array(new ArrayBuffer(arrowSchemaLayout.size + word)).fill(guard);
    assert.equal(functions.toArrowSchema(options[0], types, names, 1, addressOf(schema)), 0);
    assert.deepEqual([...schema.subarray(arrowSchemaLayout.size)], Array(word).fill(guard));
    const at = (offset: number) => {
      window.load(addressOf(schema) + offset, word);
      return window.word(0);
    };
    assert.equal(readText(at(arrowSchemaLayout.format)), '+s');
    assert.equal(at(arrowSchemaLayout.childCount), 1);
    assert.equal(at(arrowSchemaLayout.dictionary), 0);
    window.load(at(arrowSchemaLayout.children), word);
    window.load(window.word(0), arrowSchemaLayout.size);
    const childFormat = window.word(arrowSchemaLayout.format / word);
    const childName = window.word(arrowSchemaLayout.name / word);
    assert.equal(readText(childFormat), 'i');
    assert.equal(readText(childName), 'number');
    releaseArrowStruct(addressOf(schema), arrowSchemaLayout.release);
    assert.equal(at(arrowSchemaLayout.release), 0, 'a released struct has no release callback');
    functions.destroyLogicalType([type]);
    functions.destroyArrowOptions(options);
  });
});

test('an Arrow array carries its rows where the layout says', () => {
  withConnection((connection) => {
    const functions = duckDb();
    const options: OutAddress = [0];
    functions.connectionArrowOptions(connection, options);
    const memory = new Uint8Array(new ArrayBuffer(duckDbResultLayout.size));
    functions.query(connection, 'SELECT 7::INTEGER FROM range(3)', addressOf(memory));
    window.load(addressOf(memory), duckDbResultLayout.size);
    const words = [0, 1, 2, 3, 4, 5].map((index) => window.word(index));
    const [columnCount = 0, rowCount = 0, rowsChanged = 0, columns = 0, errorMessage = 0, internalData = 0] =
      words;
    const chunk = functions.fetchChunk({
      columnCount,
      rowCount,
      rowsChanged,
      columns,
      errorMessage,
      internalData,
    });
    const guard = 0x3c;
    const array = new Uint8Array(new ArrayBuffer(arrowArrayLayout.size + word)).fill(guard);
    assert.equal(functions.chunkToArrow(options[0], chunk, addressOf(array)), 0);
    assert.deepEqual([...array.subarray(arrowArrayLayout.size)], Array(word).fill(guard));
    window.load(addressOf(array), arrowArrayLayout.size);
    assert.equal(window.word(arrowArrayLayout.length / word), 3);
    assert.equal(window.word(arrowArrayLayout.childCount / word), 1);
    window.load(window.word(arrowArrayLayout.children / word), word);
    window.load(window.word(0), arrowArrayLayout.size);
    assert.equal(window.word(arrowArrayLayout.bufferCount / word), 2);
    window.load(window.word(arrowArrayLayout.buffers / word) + word, word);
    assert.equal(readInt32(window.word(0)), 7);
    releaseArrowStruct(addressOf(array), arrowArrayLayout.release);
    functions.destroyDataChunk([chunk]);
    functions.destroyResult(addressOf(memory));
    functions.destroyArrowOptions(options);
  });
});

function withConnection(use: (connection: number) => void): void {
  const functions = duckDb();
  const database: OutAddress = [0];
  const connection: OutAddress = [0];
  const error: OutAddress = [0];
  assert.equal(functions.openExtended(':memory:', database, 0, error), 0);
  assert.equal(functions.connect(database[0], connection), 0);
  try {
    use(connection[0]);
  } finally {
    functions.disconnect(connection);
    functions.close(database);
  }
}
