import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatementScanner } from './statement-scanner.js';

describe('StatementScanner', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['select 1; select 2', ['select 1', 'select 2']],
    ["select ';'; select 'it''s;'", ["select ';'", "select 'it''s;'"]],
    ['select ";""x;"; x', ['select ";""x;"', 'x']],
    ['select $$;$$; select $tag$;$$;$tag$', ['select $$;$$', 'select $tag$;$$;$tag$']],
    ["select e'\\';'; x", ["select e'\\';'", 'x']],
    ["select 'a\\'; x", ["select 'a\\'", 'x']],
    ["select name'\\'; x", ["select name'\\'", 'x']],
    ['select 1 -- ; no end\n; x', ['select 1 -- ; no end', 'x']],
    ['/* ; /* nested ; */ ; */ select 1; x', ['select 1', 'x']],
    ['select a$b$ ; select $1;', ['select a$b$', 'select $1']],
    [';; -- nothing\n ; /* at all */', []],
    ["select 'never closed; x", ["select 'never closed; x"]],
    ['select 1 - 2 / 3; -1', ['select 1 - 2 / 3', '-1']],
  ];

  for (const [text, statements] of cases) {
    it(`finds the statements of ${JSON.stringify(text)}`, () => {
      assert.deepEqual(scan([text]), statements);
    });
  }

  it('finds the same however the text is cut into pieces', () => {
    for (const [text, statements] of cases) {
      assert.deepEqual(scan([...text]), statements, text);
      for (let at = 1; at < text.length; at++)
        assert.deepEqual(scan([text.slice(0, at), text.slice(at)]), statements, `${text} cut at ${at}`);
    }
  });

  it('knows the line on which each statement begins', () => {
    const scanner = new StatementScanner();
    const found = [...scanner.push('select 1;\n\n-- comment\nselect\n2; select 3'), ...scanner.finish()];
    assert.deepEqual(
      found.map(({ line }) => line),
      [1, 4, 5],
    );
  });

  it('says what the next line goes on with', () => {
    const scanner = new StatementScanner();
    const after = (text: string) => {
      scanner.reset();
      scanner.push(text);
      return scanner.isEmpty ? 'empty' : scanner.continuation;
    };
    assert.deepEqual(['\n', 'select\n', "'a\n", '"a\n', '$x$\n', '/* a\n', '-- a\n'].map(after), [
      'empty',
      '-',
      "'",
      '"',
      '$',
      '*',
      'empty',
    ]);
  });
});

function scan(pieces: readonly string[]): readonly string[] {
  const scanner = new StatementScanner();
  return [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.finish()].map(({ sql }) => sql);
}
