/** `svc sql`: opens a session, embedded or remote, and runs what it was given in it. */

import { addAbortSignal } from 'node:stream';
import { type ProcessEnvironment, QueryError, readProcessEnvironment } from '@svc/base';
import { exitCodes } from '../exit-codes.js';
import { sqlHelp } from '../help/sql-help.js';
import { readConfig } from '../read-config.js';
import { onInterrupt } from '../signals.js';
import { UsageError } from '../usage-error.js';
import type { SqlSession } from './answer/answer.js';
import { parseSqlOptions, type ScriptSource, type SqlOptions } from './options.js';
import { type FormatName, isBinary } from './output/format.js';
import { openFileSink, type Sink, streamSink } from './output/sink.js';
import { terminalSize } from './output/terminal-size.js';
import { progressLine } from './progress/progress-for.js';
import { errorText, exitCodeOf } from './report-error.js';
import { openScript } from './script/open-script.js';
import { runScript } from './script/run-script.js';
import { quoted } from './shell/names.js';
import { runStatement } from './statement.js';

/** Answers the exit code. What goes wrong is on standard error by then. */
export async function sqlCommand(args: readonly string[]): Promise<number> {
  const options = parseSqlOptions(args);
  if (options.isHelp) {
    process.stdout.write(sqlHelp);
    return exitCodes.ok;
  }
  const isInteractive = options.sources.length === 0 && process.stdin.isTTY && process.stdout.isTTY;
  const environment = readProcessEnvironment();
  const interrupt = new AbortController();
  const removeHandler = onInterrupt(() => interrupt.abort(new QueryError('CANCELLED', 'Interrupted.')));
  let session: SqlSession | undefined;
  try {
    if (isBinary(options.format ?? 'table') && options.outputPath === undefined && process.stdout.isTTY)
      throw new UsageError(
        `--format ${options.format} is not for a terminal: give --output FILE, or a pipe.`,
      );
    session = await openSession(options, environment, isInteractive, interrupt.signal);
    await useNames(session, options, interrupt.signal);
    if (!isInteractive) return await runSources(session, options, interrupt.signal);
    removeHandler();
    const { runShell } = await import('./shell/shell.js');
    return await runShell({ session, options, environment });
  } catch (error) {
    process.stderr.write(errorText(error));
    return exitCodeOf(error);
  } finally {
    removeHandler();
    await session?.close();
  }
}

async function openSession(
  options: SqlOptions,
  environment: ProcessEnvironment,
  isInteractive: boolean,
  signal: AbortSignal,
): Promise<SqlSession> {
  if (options.server !== undefined) {
    const { SVC_TOKEN: token } = environment.variables;
    const { openRemoteSession } = await import('./session/remote-session.js');
    return await openRemoteSession({
      address: options.server,
      rootCertsPem: options.tlsRootsPath && (await readText(options.tlsRootsPath, signal)),
      user: environment.user,
      password: environment.password,
      token: token || undefined,
      isInsecureAllowed: options.isInsecureAllowed,
      signal,
    });
  }
  const config = await readConfig(options.config, environment);
  const { openEmbeddedSession } = await import('./session/embedded-session.js');
  return await openEmbeddedSession({
    config,
    startsHost: isInteractive || options.sources.some(mayReadTables) || options.sources.length === 0,
    makesSamples: isInteractive || options.sources.some(mayNameSamples) || options.sources.length === 0,
    signal,
    progress: (text) => process.stderr.write(text),
  });
}

/** Whoever asks a file something wants no sample table beside it. */
function mayNameSamples(source: ScriptSource): boolean {
  return source.kind === 'file' || /samples/i.test(source.sql);
}

/** Only decides whether an engine process is started at once or when it is needed. */
function mayReadTables(source: ScriptSource): boolean {
  return source.kind === 'file' || /\bfrom\b/i.test(source.sql);
}

async function useNames(
  session: SqlSession,
  { catalog, schema }: SqlOptions,
  signal: AbortSignal,
): Promise<void> {
  const names = [catalog, schema].filter((name) => name !== undefined);
  if (names.length === 0) return;
  const { messages } = await session.run(`USE ${names.map(quoted).join('.')}`, { signal });
  for await (const message of messages) message.release();
}

async function runSources(session: SqlSession, options: SqlOptions, signal: AbortSignal): Promise<number> {
  const isTerminal = options.outputPath === undefined && process.stdout.isTTY;
  const format = options.format ?? 'table';
  const sink =
    options.outputPath === undefined ? streamSink(process.stdout) : await openFileSink(options.outputPath);
  const progress = progressLine(options, isTerminal);
  let answers = 0;
  const runOne = async (sql: string): Promise<void> => {
    answers += 1;
    if (answers > 1) checkSeveral(format);
    const width = isTerminal ? terminalSize(process.stdout).columns : undefined;
    await runStatement({ session, sql, sink, format, width, signal, progress });
  };
  try {
    const errors = await runEach(options, signal, sink, runOne);
    if (errors.length === 0) await sink.end();
    const [first] = errors;
    return first === undefined ? exitCodes.ok : exitCodeOf(first);
  } finally {
    await sink.discard();
  }
}

function checkSeveral(format: FormatName): void {
  if (isBinary(format))
    throw new UsageError(
      `--format ${format} holds one answer: run one statement; --schema does what USE does.`,
    );
}

async function runEach(
  options: SqlOptions,
  signal: AbortSignal,
  sink: Sink,
  run: (sql: string) => Promise<void>,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const sources: readonly (ScriptSource | undefined)[] =
    options.sources.length === 0 ? [undefined] : options.sources;
  for (const source of sources) {
    const { name, text } = await openSource(source, signal);
    const failed = await runScript(text, {
      name,
      isKeptGoing: options.isKeptGoing,
      signal,
      isOver: () => sink.closed.aborted,
      run: ({ sql }) => run(sql),
      onError: (error, { line }) => process.stderr.write(errorText(error, { name, line })),
    });
    errors.push(...failed);
    if (failed.length > 0 && (!options.isKeptGoing || signal.aborted)) break;
  }
  return errors;
}

async function openSource(
  source: ScriptSource | undefined,
  signal: AbortSignal,
): Promise<{ readonly name: string | undefined; readonly text: AsyncIterable<string> | Iterable<string> }> {
  if (source?.kind === 'text') return { name: undefined, text: [source.sql] };
  if (source === undefined || source.path === '-')
    return { name: 'stdin', text: addAbortSignal(signal, process.stdin.setEncoding('utf8')) };
  return { name: source.path, text: await openScript(source.path, signal) };
}

async function readText(path: string, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const piece of await openScript(path, signal)) text += piece;
  return text;
}
