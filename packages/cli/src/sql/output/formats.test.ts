import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Dictionary,
  Int32,
  Int64,
  List,
  Table,
  tableFromArrays,
  tableFromIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { answerOf } from '../test-support/answers.js';
import { type FormatName, formats } from './format.js';

const people = () =>
  new Table({
    name: vectorFromArray(['Ada', 'a "b"', '', null], new Utf8()),
    age: vectorFromArray([36n, 2n ** 63n - 1n, null, -1n], new Int64()),
  });

describe('csv', () => {
  it('tells NULL from the empty text and doubles quotes', async () => {
    assert.equal(
      await written('csv', people()),
      'name,age\r\nAda,36\r\n"a ""b""",9223372036854775807\r\n"",\r\n,-1\r\n',
    );
  });

  it('quotes what has separators or line breaks in it', async () => {
    const table = tableFromArrays({ 'a,b': ['1\n2', '1\r2', '1,2'] });
    assert.equal(await written('csv', table), '"a,b"\r\n"1\n2"\r\n"1\r2"\r\n"1,2"\r\n');
  });

  it('has a header when there are no rows', async () => {
    assert.equal(await written('csv', emptyTable()), 'name,age\r\n');
  });
});

describe('json', () => {
  it('is one array with every digit of a number', async () => {
    const text = await written('json', people());
    assert.match(text, /"age":9223372036854775807/);
    assert.equal((JSON.parse(text) as unknown[]).length, 4);
  });

  it('is an empty array without rows', async () => {
    assert.deepEqual(JSON.parse(await written('json', emptyTable())), []);
  });

  it('keeps both of two columns of one name', async () => {
    const table = new Table({ a: vectorFromArray([1], new Int32()), b: vectorFromArray([2], new Int32()) });
    const renamed = new Table(table.batches);
    Object.defineProperty(renamed.schema.fields[1], 'name', { value: 'a' });
    assert.equal(await written('ndjson', renamed), '{"a":1,"a_1":2}\n');
  });

  it('writes nested values as JSON and enums as their text', async () => {
    const table = new Table({
      list: vectorFromArray([[1.5, null]], new List(childField())),
      kind: vectorFromArray(['x'], new Dictionary(new Utf8(), new Int32())),
    });
    assert.equal(await written('ndjson', table), '{"list":[1.5,null],"kind":"x"}\n');
  });
});

describe('markdown', () => {
  it('escapes what would end a cell', async () => {
    const table = tableFromArrays({ a: ['x|y', 'two\nlines'] });
    assert.equal(await written('markdown', table), '| a |\n| --- |\n| x\\|y |\n| two<br>lines |\n');
  });
});

describe('table', () => {
  it('aligns numbers to the right and shows NULL', async () => {
    assert.deepEqual((await written('table', people())).split('\n'), [
      ' name  │                 age',
      '───────┼─────────────────────',
      ' Ada   │                  36',
      ' a "b" │ 9223372036854775807',
      '       │                NULL',
      ' NULL  │                  -1',
      '(4 rows)',
      '',
    ]);
  });

  it('counts wide characters as two columns and nothing as a control', async () => {
    const table = tableFromArrays({ a: ['日本', 'e\u0301', '\u001b[31mred', '👩‍👩‍👧'] });
    assert.deepEqual((await written('table', table)).split('\n').slice(2, 6), [
      ' 日本',
      ' e\u0301',
      ' \\u{1b}[31mred',
      ' 👩‍👩‍👧',
    ]);
  });

  it('fits a terminal of 20 columns whatever the number of columns', async () => {
    for (const count of [1, 2, 3, 5, 40]) {
      const columns = Object.fromEntries(
        Array.from({ length: count }, (_value, index) => [`column_${index}`, ['a rather long text']]),
      );
      const lines = (await written('table', tableFromArrays(columns), 20)).split('\n');
      for (const line of lines.slice(0, 3)) assert.ok(line.length <= 20, `${count}: ${line}`);
    }
  });

  it('says how many columns are not shown', async () => {
    const columns = Object.fromEntries(
      Array.from({ length: 9 }, (_value, index) => [`column_${index}`, ['text']]),
    );
    assert.match(
      await written('table', tableFromArrays(columns), 40),
      /│ … │[\s\S]*\(1 row, \d of 9 columns shown\)/,
    );
  });

  it('writes rows beyond those that decided the widths in full when it is not for a terminal', async () => {
    const texts = Array.from({ length: 5000 }, (_value, index) => (index === 4999 ? 'x'.repeat(50) : 'y'));
    const text = await written('table', tableFromArrays({ a: texts }));
    assert.equal(text.split('\n').length, 5004);
    assert.ok(text.includes('x'.repeat(50)));
  });
});

describe('expanded', () => {
  it('has a line per value', async () => {
    assert.match(await written('expanded', people(), 30), /─\[ row 2 ]─+\nname │ a "b"\nage {2}│ 9223372/);
  });
});

describe('arrow', () => {
  it('is the stream as it came', async () => {
    const pieces: Uint8Array[] = [];
    for await (const piece of formats.arrow(answerOf(people()))) pieces.push(piece as Uint8Array);
    assert.equal(tableFromIPC(Buffer.concat(pieces)).numRows, 4);
  });
});

describe('every format', () => {
  it('ends the answer when it is left early', async () => {
    for (const format of Object.values(formats)) {
      const answer = answerOf(people());
      for await (const _piece of format(answer, { width: undefined })) break;
      await answer.messages[Symbol.asyncIterator]().return?.();
      assert.equal((await answer.messages[Symbol.asyncIterator]().next()).done, true, format.name);
    }
  });
});

async function written(format: FormatName, table: Table, width?: number): Promise<string> {
  let text = '';
  for await (const piece of formats[format](answerOf(table), { width })) text += String(piece);
  return text;
}

function emptyTable(): Table {
  return people().slice(0, 0);
}

function childField() {
  const [child] = vectorFromArray([[1.5]]).type.children;
  assert.ok(child);
  return child;
}
