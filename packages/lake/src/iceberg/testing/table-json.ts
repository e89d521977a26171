/** The metadata file of a table with one column and without rows, as JSON. */
export function tableJson(location: string): object {
  return {
    'format-version': 2,
    'table-uuid': '5f8a2c5e-4b7d-4d6f-9d3b-1d2e3f4a5b6c',
    location,
    'last-sequence-number': 0,
    'last-updated-ms': 1,
    'last-column-id': 1,
    'current-schema-id': 0,
    schemas: [
      { type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', required: false, type: 'int' }] },
    ],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
  };
}
