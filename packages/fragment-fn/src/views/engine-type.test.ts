import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IcebergType } from '@svc/lake';
import { engineType } from './engine-type.js';

describe('the engine type of an Iceberg type', () => {
  it('is the one that holds the same values', () => {
    const cases: readonly (readonly [IcebergType, string])[] = [
      [{ kind: 'boolean' }, 'BOOLEAN'],
      [{ kind: 'int' }, 'INTEGER'],
      [{ kind: 'long' }, 'BIGINT'],
      [{ kind: 'float' }, 'FLOAT'],
      [{ kind: 'double' }, 'DOUBLE'],
      [{ kind: 'decimal', precision: 38, scale: 10 }, 'DECIMAL(38,10)'],
      [{ kind: 'date' }, 'DATE'],
      [{ kind: 'time' }, 'TIME'],
      [{ kind: 'timestamp' }, 'TIMESTAMP'],
      [{ kind: 'timestamptz' }, 'TIMESTAMP WITH TIME ZONE'],
      [{ kind: 'timestamp_ns' }, 'TIMESTAMP_NS'],
      [{ kind: 'timestamptz_ns' }, 'TIMESTAMP WITH TIME ZONE'],
      [{ kind: 'string' }, 'VARCHAR'],
      [{ kind: 'uuid' }, 'UUID'],
      [{ kind: 'fixed', length: 3 }, 'BLOB'],
      [{ kind: 'binary' }, 'BLOB'],
      [{ kind: 'unsupported', text: 'variant' }, 'BLOB'],
    ];
    for (const [type, name] of cases) assert.equal(engineType(type), name);
  });

  it('quotes the names inside of structs, at any depth', () => {
    const type: IcebergType = {
      kind: 'map',
      keyId: 1,
      key: { kind: 'string' },
      valueId: 2,
      valueRequired: false,
      value: {
        kind: 'list',
        elementId: 3,
        elementRequired: false,
        element: {
          kind: 'struct',
          fields: [
            { id: 4, name: 'a"b', required: false, type: { kind: 'int' } },
            { id: 5, name: '', required: false, type: { kind: 'struct', fields: [field('ü.💥')] } },
          ],
        },
      },
    };
    assert.equal(engineType(type), 'MAP(VARCHAR, STRUCT("a""b" INTEGER, "" STRUCT("ü.💥" BIGINT))[])');
  });
});

function field(name: string) {
  return { id: 9, name, required: false, type: { kind: 'long' } } as const;
}
