import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IcebergType } from '@svc/lake';
import { tableFromIPC } from 'apache-arrow';
import { tableArrowSchema } from './table-arrow-schema.js';

describe('the Arrow schema of a table', () => {
  it('has zoned times in the time zone of the session, at any depth', () => {
    const zoned: IcebergType = { kind: 'timestamptz' };
    const list: IcebergType = { kind: 'list', elementId: 2, element: zoned, elementRequired: false };
    assert.deepEqual(typesOf([zoned, list], 'Europe/Berlin'), [
      'Timestamp<MICROSECOND, Europe/Berlin>',
      'List<Timestamp<MICROSECOND, Europe/Berlin>>',
    ]);
  });

  it('names types without their parameters, which have keys of their own', () => {
    const [field] = fieldsOf([{ kind: 'decimal', precision: 12, scale: 2 }], 'UTC');
    assert.deepEqual(Object.fromEntries(field?.metadata ?? []), {
      'ARROW:FLIGHT:SQL:TYPE_NAME': 'DECIMAL',
      'ARROW:FLIGHT:SQL:PRECISION': '12',
      'ARROW:FLIGHT:SQL:SCALE': '2',
    });
  });
});

function fieldsOf(types: readonly IcebergType[], timeZone: string) {
  const fields = types.map((type, index) => ({ id: index + 1, name: `c${index}`, required: false, type }));
  return tableFromIPC(tableArrowSchema(fields, timeZone)).schema.fields;
}

function typesOf(types: readonly IcebergType[], timeZone: string): readonly string[] {
  return fieldsOf(types, timeZone).map(({ type }) => String(type));
}
