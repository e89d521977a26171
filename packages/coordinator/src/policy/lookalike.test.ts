import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lookalikeSchema, lookalikeTable } from './lookalike.js';

describe('names that a catalog may take for one another', () => {
  const table = (name: string) => lookalikeTable('s', name);

  test('are those with a reference of Nessie behind them, or in quotes', () => {
    for (const name of [
      'orders@main',
      'ORDERS@Main',
      'orders#2e1cfa82b035c26cbbbdae632cea070514eb8b77',
      'orders@main#2024-01-01T00:00:00Z',
      '`orders@main`',
      "'orders@feature/x'",
      '`orders`@v1.0',
      '"orders"@main',
      '`orders`',
      'orders @main',
      'örders＠main',
    ])
      assert.deepEqual(table(name), ['s', 'orders'], name);
  });

  test('are those that are percent-encoded once more, or lead there as paths', () => {
    for (const name of [
      'orders%40main',
      'orders%2540main',
      '%6Frders',
      'orders%20',
      'orders.',
      'orders/',
      './orders',
      'x/../orders',
      '../s/orders',
      '..%2Fs%2Forders@main',
      'orders\u0000',
    ])
      assert.deepEqual(table(name), ['s', 'orders'], name);
    assert.deepEqual(table('b/orders'), lookalikeTable('s.b', 'orders'));
    assert.deepEqual(table('b.orders'), lookalikeTable('s.b', 'orders'));
  });

  test('are schemas of which the same is true, level by level', () => {
    for (const schema of ['sales@main', '@hive#sales', '`sales`', 'sales/', 'SALES#abc', 'sales%40main'])
      assert.deepEqual(lookalikeSchema(schema), ['sales'], schema);
    for (const schema of ['a@main.b', 'a\u001fb', 'a\u001db', 'a%1Fb', 'a/b'])
      assert.deepEqual(lookalikeSchema(schema), ['a', 'b'], schema);
  });

  test('are no others', () => {
    const names = [
      'orders',
      'orders2',
      'order',
      's@orders',
      '@orders',
      'orders$files',
      'or@ders',
      '100%',
      'or-ders',
    ];
    assert.equal(new Set(names.map((name) => JSON.stringify(table(name)))).size, names.length);
    assert.deepEqual(table('100%zz%ff'), ['s', '100%zz%ff']);
    assert.deepEqual(lookalikeSchema('a.b'), ['a', 'b']);
  });
});
