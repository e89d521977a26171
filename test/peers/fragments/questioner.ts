/** The client: a Python process that asks TPC-H over ADBC and compares each answer with DuckDB's. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { servers } from './servers.js';

export interface Questions {
  readonly execution: 'auto' | 'local' | 'workers' | 'lambda';
  /** So many statements drawn by the seed, and more until so many seconds are over; without one the 22 in their order. */
  readonly count?: number;
  readonly least_seconds?: number;
  readonly seed?: number;
  readonly connections?: number;
}

export interface Answers {
  readonly answered: number;
  /** Of what failed, and of what was answered wrong. */
  readonly problems: readonly string[];
  /** Of each statement. */
  readonly seconds: readonly number[];
}

export interface Questioner {
  ask(questions: Questions): Promise<Answers>;
  close(): Promise<void>;
}

export interface QuestionerTarget {
  /** `host:port` */
  readonly address: string;
  readonly username: string;
  readonly password: string;
  readonly tables: string;
}

export async function startQuestioner(target: QuestionerTarget): Promise<Questioner> {
  const { python, pythonPath, answerQueries } = servers;
  const child = spawn(python, [answerQueries, JSON.stringify(target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: pythonPath, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error('The client has ended.');
    return JSON.parse(value);
  };
  await read();
  return {
    async ask(questions) {
      child.stdin.write(`${JSON.stringify(questions)}\n`);
      return await read();
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
