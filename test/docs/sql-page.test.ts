/** The examples of docs/sql.md: run in their order, by one client. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FlightClient } from '@svc/flight';
import { splitStatements } from '@svc/sql';
import { query } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';

interface Example {
  readonly line: number;
  readonly sql: string;
  /** What stands behind `--`: the first value, or `error CODE`; undefined when nothing does. */
  readonly expected: string | undefined;
}

const page = readFileSync(new URL('../../../docs/sql.md', import.meta.url), 'utf8');

describe('docs/sql.md', () => {
  let service: TestService;
  let client: FlightClient;
  before(async () => {
    service = await startService();
    client = await service.client();
  });
  after(async () => await service[Symbol.asyncDispose]());

  it('has examples that do what the page says', async () => {
    const examples = examplesOf(page);
    assert.ok(examples.length > 60, `only ${examples.length} examples were found`);
    for (const { line, sql, expected } of examples) {
      const answer = await firstValue(client, sql);
      if (expected !== undefined || answer.startsWith('error '))
        assert.equal(answer, expected, `docs/sql.md:${line}: ${sql}`);
    }
  });

  it('has an example of every kind of statement that it lists', () => {
    const table = page.slice(page.indexOf('| statement |'), page.indexOf('One call takes'));
    const listed = [...table.matchAll(/`([A-Z]{3,}(?: (?:OR REPLACE )?[A-Z]{3,})?)/g)].map(
      ([, words]) => words ?? '',
    );
    const examples = examplesOf(page).map(({ sql }) => sql.replaceAll(/\s+/g, ' ').toUpperCase());
    for (const words of new Set(listed))
      assert.ok(
        examples.some((sql) => sql.includes(words)),
        `no example of ${words}`,
      );
  });
});

function examplesOf(markdown: string): readonly Example[] {
  return [...markdown.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].flatMap((block) => {
    const [, text = ''] = block;
    const blockLine = markdown.slice(0, block.index).split('\n').length + 1;
    let at = 0;
    return splitStatements(text).map(({ sql }) => {
      at = text.indexOf(sql, at);
      const line = blockLine + text.slice(0, at).split('\n').length - 1;
      at += sql.length;
      const rest = text.slice(at, text.indexOf('\n', at));
      return { line, sql, expected: /--\s*(.*\S)\s*$/.exec(rest)?.[1] };
    });
  });
}

/** As text; `error CODE` of a statement that fails. */
async function firstValue(client: FlightClient, sql: string): Promise<string> {
  try {
    const table = await query(client, sql);
    const value: unknown = table.getChildAt(0)?.get(0);
    return String(value ?? 'NULL');
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return `error ${error.code}`;
  }
}
