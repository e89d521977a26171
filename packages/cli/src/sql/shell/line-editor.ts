/**
 * Lines from a person at a terminal. While a statement runs the terminal is given back to the system: then Ctrl-C is a
 * signal again, a pager can have the keys, and what is typed waits for the next prompt.
 */
import { createInterface, type Interface } from 'node:readline';
import type { ReadStream } from 'node:tty';

export type Input =
  | { readonly kind: 'line'; readonly line: string }
  /** Ctrl-C; `wasEmpty` when nothing was typed. */
  | { readonly kind: 'interrupt'; readonly wasEmpty: boolean }
  /** Ctrl-D, or the terminal is gone. */
  | { readonly kind: 'end' };

export type Completer = (line: string, done: (error: null, result: [string[], string]) => void) => void;

export interface LineEditorOptions {
  readonly input: ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Newest first. */
  readonly history: string[];
  readonly historySize: number;
  readonly completer: Completer;
}

export class LineEditor {
  readonly #options: LineEditorOptions;
  readonly #readline: Interface;
  readonly #inputs: Input[] = [];
  #wake: (() => void) | undefined;

  constructor(options: LineEditorOptions) {
    this.#options = options;
    const readline = createInterface({ ...options, terminal: true, removeHistoryDuplicates: true });
    this.#readline = readline;
    readline.on('line', (line) => this.#add({ kind: 'line', line }));
    readline.on('close', () => this.#add({ kind: 'end' }));
    readline.on('SIGINT', () => {
      const wasEmpty = readline.line === '';
      // To the end of the line and away with it: readline has no call for that.
      readline.write(null, { ctrl: true, name: 'e' });
      readline.write(null, { ctrl: true, name: 'u' });
      options.output.write('^C\n');
      this.#add({ kind: 'interrupt', wasEmpty });
    });
  }

  /** The next thing that the person does; the prompt is shown unless it has been done already. */
  async next(prompt: string): Promise<Input> {
    if (this.#inputs.length === 0) {
      this.#readline.setPrompt(prompt);
      this.#readline.prompt();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#inputs.shift() ?? { kind: 'end' };
  }

  /** Runs something that has the terminal for itself. */
  async aside<T>(body: () => Promise<T>): Promise<T> {
    this.#readline.pause();
    this.#options.input.setRawMode(false);
    try {
      return await body();
    } finally {
      this.#options.input.setRawMode(true);
      this.#readline.resume();
    }
  }

  close(): void {
    this.#readline.close();
  }

  #add(input: Input): void {
    this.#inputs.push(input);
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
