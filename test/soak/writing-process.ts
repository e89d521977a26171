/** Programs that write to a table, print a line for each commit that was acknowledged, and may be killed at any time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const packages = new URL('../../../packages/', import.meta.url).pathname;
const appendLoop = `${packages}lake/dist/catalogs/file-system/testing/append-loop-main.js`;
const svc = `${packages}cli/dist/bundle/main.mjs`;

export interface WritingProcess {
  readonly pid: number;
  /** What was acknowledged so far. */
  readonly lines: readonly string[];
  /** Waits for so many lines, or for the end. */
  acknowledged(count: number): Promise<void>;
  /** Does not fail when it has ended already. */
  kill(): void;
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
}

/** Appends `count` files to `s.t`, each in a commit of its own, by the lake alone. */
export function startAppendLoop(root: string, name: string, count: number): WritingProcess {
  return start([appendLoop, root, name, String(count)], root);
}

/** `svc sql` over a catalog folder of `folder`, with nothing to do but these statements. */
export function startSvcSql(folder: string, statements: readonly string[]): WritingProcess {
  const script = `${statements.join(';\n')};\n`;
  return start([svc, 'sql', '--format', 'ndjson', '-f', '-'], folder, script);
}

function start(args: readonly string[], folder: string, input = ''): WritingProcess {
  const env = { SVC_CATALOG__PATH: 'lake', TMPDIR: folder };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'pipe' });
  // Who is killed does not read on.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const closed = once(reader, 'close');
  let hasEnded = false;
  const ended = Promise.all([once(child, 'exit'), closed]).then(([[code]]) => {
    hasEnded = true;
    return { code: code as number | null, errors };
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: () => void child.kill('SIGKILL'),
    async acknowledged(count) {
      while (lines.length < count && !hasEnded) await Promise.race([once(reader, 'line'), ended]);
    },
  };
}
