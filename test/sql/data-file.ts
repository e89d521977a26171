/**
 * Files of test data: a statement, a line `----`, the expected answer, an empty line; `#` at the start of a block is a
 * comment. `SVC_REWRITE_TESTDATA=1` writes what is answered now, to be reviewed as a diff.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const { SVC_REWRITE_TESTDATA: rewriting } = process.env;

export interface DataCase {
  readonly comment: string;
  readonly input: string;
  readonly expected: string;
}

export function readDataFile(file: string): readonly DataCase[] {
  return readFileSync(file, 'utf8')
    .split(/\n\n+/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const [head = '', expected = ''] = block.split(/^----$/m);
      const lines = head.split('\n');
      const comment = lines.filter((line) => line.startsWith('#')).join('\n');
      const input = lines.filter((line) => !line.startsWith('#')).join('\n');
      return { comment, input: input.trimEnd(), expected: expected.trim() };
    });
}

/** Compares every case, or writes the file anew; answers the cases that differ. */
export function checkDataFile(
  file: string,
  answer: (input: string) => string,
): readonly { readonly input: string; readonly expected: string; readonly actual: string }[] {
  const cases = readDataFile(file).map((known) => ({ ...known, actual: answer(known.input) }));
  if (rewriting === '1') {
    const blocks = cases.map(
      ({ comment, input, actual }) => `${comment === '' ? '' : `${comment}\n`}${input}\n----\n${actual}\n`,
    );
    writeFileSync(file, blocks.join('\n'));
    return [];
  }
  return cases.filter(({ expected, actual }) => expected !== actual);
}
