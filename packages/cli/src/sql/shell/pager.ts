/** Output for a terminal that goes through a pager as soon as it is longer than the terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { isReaderGone, type Sink, writePiece } from '../output/sink.js';

export interface PagerOptions {
  readonly terminal: Sink;
  readonly rows: number;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** PAGER of the environment, else less; none when PAGER is empty or `cat`. */
export function pagerCommand(variable: string | undefined): readonly string[] | undefined {
  const words = (variable ?? 'less').split(/\s+/).filter((word) => word !== '');
  return words.length === 0 || words[0] === 'cat' ? undefined : words;
}

/** `end` waits until the pager has been left. */
export function pagedSink(options: PagerOptions): Sink {
  const { terminal, rows } = options;
  const closed = new AbortController();
  let held = '';
  let lines = 0;
  let pager: Pager | undefined;

  const showHeld = async (): Promise<void> => {
    const text = held;
    held = '';
    if (pager === undefined) await terminal.write(text);
    else await pager.write(text);
  };
  return {
    closed: AbortSignal.any([terminal.closed, closed.signal]),
    async write(piece) {
      const text = typeof piece === 'string' ? piece : Buffer.from(piece).toString('latin1');
      held += text;
      if (pager === undefined) {
        lines += text.split('\n').length - 1;
        // One line is left for the prompt.
        if (lines < rows) return;
        pager = await startPager(options, closed);
      }
      await showHeld();
    },
    async end() {
      await showHeld();
      await pager?.end();
    },
    async discard() {
      await showHeld();
      await pager?.end();
    },
  };
}

interface Pager {
  write(text: string): Promise<void>;
  /** No more comes; resolves when the pager has ended. */
  end(): Promise<void>;
}

/** Undefined when there is no such program. */
async function startPager(
  { command, environment }: PagerOptions,
  closed: AbortController,
): Promise<Pager | undefined> {
  const [program = '', ...args] = command;
  const child: ChildProcess = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Wide tables are scrolled and not wrapped; a short rest does not wait for a key.
    env: { LESS: 'FRSX', ...environment },
  });
  const input = child.stdin;
  const isStarted = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]);
  if (!isStarted || input === null) return undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => {
      closed.abort();
      resolve();
    });
  });
  input.on('error', (error) => {
    if (isReaderGone(error)) closed.abort();
  });
  return {
    write: async (text) => {
      if (!closed.signal.aborted) await writePiece(input, text, closed.signal);
    },
    end: async () => {
      input.end();
      await exited;
    },
  };
}
