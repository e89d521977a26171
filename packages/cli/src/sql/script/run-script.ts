/** Statements one after the other: of `-c`, of a file, of standard input. */
import { QueryError } from '@svc/base';
import { type ScannedStatement, StatementScanner } from './statement-scanner.js';

export interface ScriptOptions {
  /** Of messages: the file that the text is of; undefined where a line number says nothing. */
  readonly name: string | undefined;
  readonly isKeptGoing: boolean;
  readonly signal: AbortSignal;
  /** Whether there is no use in going on: nobody takes the output any more. */
  readonly isOver: () => boolean;
  readonly run: (statement: ScannedStatement) => Promise<void>;
  /** Tells about a statement that failed. */
  readonly onError: (error: unknown, statement: ScannedStatement) => void;
}

/** No service takes longer ones. */
const maxStatementCharacters = 64 * 2 ** 20;

/** Answers the errors of the statements that failed: at most one unless it was told to keep going. */
export async function runScript(
  text: AsyncIterable<string> | Iterable<string>,
  options: ScriptOptions,
): Promise<readonly unknown[]> {
  const scanner = new StatementScanner();
  const errors: unknown[] = [];
  const runAll = async (statements: readonly ScannedStatement[]): Promise<boolean> => {
    for (const statement of statements) {
      if (options.isOver()) return false;
      try {
        await options.run(statement);
      } catch (error) {
        errors.push(error);
        options.onError(error, statement);
        if (!options.isKeptGoing || options.signal.aborted) return false;
      }
    }
    return true;
  };
  for await (const piece of text) {
    if (!(await runAll(scanner.push(piece)))) return errors;
    if (scanner.pending.length > maxStatementCharacters)
      throw new QueryError(
        'STATEMENT_TOO_LARGE',
        'The text goes on for 64 MiB without the end of a statement.',
      );
  }
  await runAll(scanner.finish());
  return errors;
}
