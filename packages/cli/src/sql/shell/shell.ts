/** The interactive shell: reads statements and backslash commands, runs them one after the other. */

import { type ProcessEnvironment, QueryError } from '@svc/base';
import { exitCodes } from '../../exit-codes.js';
import { onInterrupt } from '../../signals.js';
import { serviceVersion } from '../../version.js';
import type { SqlSession } from '../answer/answer.js';
import type { SqlOptions } from '../options.js';
import type { FormatName } from '../output/format.js';
import { openFileSink, type Sink, streamSink } from '../output/sink.js';
import { terminalSize } from '../output/terminal-size.js';
import { progressLine } from '../progress/progress-for.js';
import { errorText } from '../report-error.js';
import { openScript } from '../script/open-script.js';
import { runScript } from '../script/run-script.js';
import { StatementScanner } from '../script/statement-scanner.js';
import { runStatement } from '../statement.js';
import { complete } from './completion.js';
import { addToHistory, historyPath, maxHistoryLines, readHistory } from './history.js';
import { type Completer, LineEditor } from './line-editor.js';
import { type MetaCommand, metaHelp, parseMetaCommand } from './meta-commands.js';
import { type NameSource, sessionNames } from './names.js';
import { pagedSink, pagerCommand } from './pager.js';

export interface ShellOptions {
  readonly session: SqlSession;
  readonly options: SqlOptions;
  readonly environment: ProcessEnvironment;
}

/** Told to end, or the terminal has gone: the shell leaves as it does at Ctrl-D. */
const endSignals = ['SIGTERM', 'SIGHUP'] as const;

/** Somebody waits for the Tab key. */
const completionTimeoutMs = 2_000;

/** What backslash commands change. */
interface ShellState {
  format: FormatName;
  isExpanded: boolean;
  hasTiming: boolean;
  /** Where answers go instead of the terminal. */
  outputPath: string | undefined;
}

/** Runs until the person leaves. Answers the exit code. */
export async function runShell({ session, options, environment }: ShellOptions): Promise<number> {
  const { SVC_HISTORY: variable } = environment.variables;
  const historyFile = historyPath(variable);
  const names = sessionNames(session);
  const scanner = new StatementScanner();
  const editor = new LineEditor({
    input: process.stdin,
    output: process.stdout,
    history: await readHistory(historyFile),
    historySize: maxHistoryLines,
    completer: completerOf(scanner, names),
  });
  const shell = new Shell({ session, options, environment }, editor, names);
  const lines: string[] = [];
  const leave = () => editor.close();
  for (const signal of endSignals) process.once(signal, leave);
  process.stdout.write(`svc ${serviceVersion}, ${session.description}\n\\? lists commands, \\q leaves.\n`);
  try {
    for (;;) {
      const input = await editor.next(scanner.isEmpty ? 'svc> ' : `${scanner.continuation}  > `);
      if (input.kind === 'end') return exitCodes.ok;
      if (input.kind === 'interrupt') {
        if (input.wasEmpty && scanner.isEmpty) process.stdout.write('Ctrl-D or \\q leaves.\n');
        scanner.reset();
        continue;
      }
      const { line } = input;
      if (line.trim() !== '' && !line.startsWith(' ')) lines.push(line);
      if (scanner.isEmpty && line.startsWith('\\')) {
        scanner.reset();
        if ((await shell.command(parseMetaCommand(line))) === 'quit') return exitCodes.ok;
        continue;
      }
      for (const { sql } of scanner.push(`${line}\n`)) await shell.statement(sql);
    }
  } finally {
    for (const signal of endSignals) process.off(signal, leave);
    editor.close();
    await addToHistory(historyFile, lines);
  }
}

function completerOf(scanner: StatementScanner, names: NameSource): Completer {
  return (line, done) => {
    const text = scanner.pending + line;
    complete({ text, names, signal: AbortSignal.timeout(completionTimeoutMs) }).then(
      ({ candidates, word }) => done(null, [[...candidates], word]),
      () => done(null, [[], line]),
    );
  };
}

class Shell {
  readonly #options: ShellOptions;
  readonly #editor: LineEditor;
  readonly #names: NameSource;
  readonly #state: ShellState;
  readonly #terminal = streamSink(process.stdout);

  constructor(options: ShellOptions, editor: LineEditor, names: NameSource) {
    this.#options = options;
    this.#editor = editor;
    this.#names = names;
    this.#state = {
      format: options.options.format ?? 'table',
      isExpanded: false,
      hasTiming: true,
      outputPath: options.options.outputPath,
    };
  }

  /** Runs a statement and shows what it answers, or what is wrong with it. */
  async statement(sql: string): Promise<void> {
    await this.#interruptible((signal) => this.#run(sql, signal));
  }

  async command(command: MetaCommand): Promise<'quit' | 'done'> {
    const state = this.#state;
    switch (command.kind) {
      case 'quit':
        return 'quit';
      case 'help':
        process.stdout.write(metaHelp);
        break;
      case 'sql':
        await this.statement(command.sql);
        break;
      case 'timing':
        state.hasTiming = command.isOn ?? !state.hasTiming;
        process.stdout.write(`Timing is ${state.hasTiming ? 'on' : 'off'}.\n`);
        break;
      case 'expanded':
        state.isExpanded = command.isOn ?? !state.isExpanded;
        process.stdout.write(`One line per value is ${state.isExpanded ? 'on' : 'off'}.\n`);
        break;
      case 'format':
        state.format = command.format;
        state.isExpanded = false;
        break;
      case 'output':
        state.outputPath = command.path;
        break;
      case 'include':
        await this.#interruptible((signal) => this.#include(command.path, signal));
        break;
      case 'wrong':
        process.stdout.write(`${command.message}\n`);
        break;
    }
    return 'done';
  }

  /** Ctrl-C ends what the body does, and nothing else. */
  async #interruptible(body: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.#editor.aside(async () => {
      const controller = new AbortController();
      const stop = () => controller.abort(new QueryError('CANCELLED', 'Interrupted.'));
      // The shell stays: however often Ctrl-C is pressed, a handler is there.
      let remove = onInterrupt(function again() {
        stop();
        remove = onInterrupt(again);
      });
      try {
        await body(controller.signal);
      } catch (error) {
        process.stderr.write(errorText(error));
      } finally {
        remove();
      }
    });
  }

  async #run(sql: string, signal: AbortSignal): Promise<void> {
    const { session, options } = this.#options;
    const { hasTiming, isExpanded, format, outputPath } = this.#state;
    const isTerminal = outputPath === undefined;
    const sink = isTerminal ? this.#terminalSink() : await openFileSink(outputPath);
    try {
      const { elapsedMs } = await runStatement({
        session,
        sql,
        sink,
        format: isExpanded && format === 'table' ? 'expanded' : format,
        width: isTerminal ? terminalSize(process.stdout).columns : undefined,
        signal,
        progress: progressLine(options, isTerminal),
      });
      await sink.end();
      if (!/^(?:select|with|from|values|show|describe|desc|explain|summarize)\b/i.test(sql))
        this.#names.forget();
      if (hasTiming) process.stdout.write(`Time: ${(elapsedMs / 1000).toFixed(3)} s\n`);
    } finally {
      await sink.discard();
    }
  }

  #terminalSink(): Sink {
    const { options, environment } = this.#options;
    const { PAGER: variable } = environment.variables;
    const command = options.hasPager ? pagerCommand(variable) : undefined;
    if (command === undefined) return this.#terminal;
    return pagedSink({
      terminal: this.#terminal,
      rows: terminalSize(process.stdout).rows,
      command,
      environment: environment.variables,
    });
  }

  async #include(path: string, signal: AbortSignal): Promise<void> {
    await runScript(await openScript(path, signal), {
      name: path,
      isKeptGoing: false,
      signal,
      isOver: () => false,
      run: ({ sql }) => this.#run(sql, signal),
      onError: (error, { line }) => process.stderr.write(errorText(error, { name: path, line })),
    });
  }
}
