import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { complete } from './completion.js';
import { parseMetaCommand } from './meta-commands.js';
import type { NameSource } from './names.js';

const names: NameSource = {
  schemas: async () => ['sales', 'Odd Name'],
  tables: async (schema) => (schema === 'sales' ? ['orders', 'items'] : []),
  columns: async (table) => {
    if (table.join('.') !== 'sales.orders') throw new Error('no such table');
    return ['id', 'total', 'order date'];
  },
  forget: () => undefined,
};

describe('complete', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['sel', ['select']],
    ['SEL', ['SELECT']],
    ['select * from ', ['sales', '"Odd Name"']],
    ['select * from sa', ['sales']],
    ['select * from "O', ['"Odd Name"']],
    ['select * from sales.', ['orders', 'items']],
    ['select * from sales.it', ['items']],
    ['select * from sales.orders where to', ['total']],
    ['select * from sales.orders where or', ['"order date"', 'or', 'order']],
    ['select * from sales.orders o where o.i', ['id']],
    ['select * from sales.orders as "My o" where "My o".i', ['id']],
    ['use sa', ['sales', 'sample']],
    ['select * from nowhere.x where x.', []],
  ];
  for (const [text, expected] of cases) {
    it(`goes on after ${JSON.stringify(text)}`, async () => {
      const { candidates } = await complete({ text, names, signal: AbortSignal.abort() });
      assert.deepEqual(candidates, expected);
    });
  }
});

describe('a backslash command', () => {
  it('is read with its argument, and names are quoted', () => {
    assert.deepEqual(parseMetaCommand('\\d a.b'), { kind: 'sql', sql: 'DESCRIBE "a"."b"' });
    assert.deepEqual(parseMetaCommand('\\d "a.b".c'), { kind: 'sql', sql: 'DESCRIBE "a.b"."c"' });
    assert.deepEqual(parseMetaCommand('\\dt x; drop'), { kind: 'sql', sql: 'SHOW TABLES IN "x; drop"' });
    assert.deepEqual(parseMetaCommand('\\timing off'), { kind: 'timing', isOn: false });
    assert.deepEqual(parseMetaCommand('\\q'), { kind: 'quit' });
  });

  it('that is wrong says what would be right', () => {
    for (const line of ['\\nope', '\\x maybe', '\\format xml', '\\i', '\\'])
      assert.equal(parseMetaCommand(line).kind, 'wrong', line);
  });
});
