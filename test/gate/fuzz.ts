/** Generates statements, asks our pipeline about each, and runs what passes where everything that it does is seen. */
import { seededRandom } from '../soak/seeded-random.js';
import { openDuckDbParser } from '../sql/duckdb-parser.js';
import { readSignatures } from './grammar/signatures.js';
import { generateStatement } from './grammar/statements.js';
import { type Judgement, judge } from './judge.js';
import { foreignScans } from './plan-scans.js';
import { shrink } from './shrink.js';
import { openTracedRunner, type TracedStatement } from './traced-runner.js';

export interface FuzzReport {
  readonly counts: FuzzCounts;
  readonly seesSystemCalls: boolean;
  /** Names of functions and operators in statements that ran. */
  readonly functions: ReadonlySet<string>;
  /** Refusals and other ends by their code. */
  readonly ends: ReadonlyMap<string, number>;
  /** What no statement may do, each with the shortest statement that does it and where it came from. */
  readonly findings: readonly string[];
}

export interface FuzzCounts {
  readonly generated: number;
  /** Got as far as the gate: the engine's parser took it. */
  readonly parsed: number;
  /** Passed the gate, and named nothing that the catalog does not have. */
  readonly passed: number;
  readonly bound: number;
  readonly ran: number;
  /** Ended the engine by a fault of its own. */
  readonly crashed: number;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** Called with every statement that ended the engine. */
  readonly onCrash?: (sql: string) => void;
}

interface Candidate extends TracedStatement {
  readonly text: string;
  readonly functions: ReadonlySet<string>;
}

/** So many that pass run between two looks at what the engine keeps. */
const batchSize = 40;
/** More of them say nothing new. */
const maxFindings = 8;
/** Ends before the gate. */
const unparsed: ReadonlySet<string> = new Set(['SYNTAX_ERROR', 'unsupported', 'not-allowed', 'no query']);

export async function fuzzGate({ seed, count, onCrash }: FuzzOptions): Promise<FuzzReport> {
  const parser = openDuckDbParser();
  const signatures = readSignatures(parser);
  await using runner = await openTracedRunner(foreignScans(signatures));
  const counts = { generated: 0, parsed: 0, passed: 0, bound: 0, ran: 0, crashed: 0 };
  const ends = new Map<string, number>();
  const functions = new Set<string>();
  const findings: string[] = [];

  const generate = (id: number): Candidate | undefined => {
    const { sql: text, parameters } = generateStatement(signatures, seededRandom(seed * 1_000_003 + id));
    const judged = judge(parser, text);
    const end = endOf(judged);
    counts.generated++;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    if (!unparsed.has(end)) counts.parsed++;
    if (judged.kind === 'broken') findings.push(describeFinding(seed, id, [judged.why], text));
    if (judged.kind !== 'passed') return undefined;
    counts.passed++;
    return { id, text, sql: judged.sql, parameters, functions: judged.functions };
  };

  /** The same statement with less in it, while it passes and does something that it may not. */
  const shorten = async ({ text, id, parameters }: Candidate): Promise<string> =>
    await shrink(text, async (shorter) => {
      const judged = judge(parser, shorter);
      if (judged.kind !== 'passed') return false;
      const [outcome] = await runner.run([{ id, sql: judged.sql, parameters }]);
      return outcome !== undefined && outcome.findings.length > 0;
    });

  const run = async (batch: readonly Candidate[]): Promise<void> => {
    const outcomes = await runner.run(batch);
    for (const [index, outcome] of outcomes.entries()) {
      const candidate = batch[index];
      if (candidate === undefined) continue;
      if (outcome.bound) counts.bound++;
      if (outcome.ran) counts.ran++;
      if (outcome.ran) for (const name of candidate.functions) functions.add(name);
      if (outcome.crashed) {
        counts.crashed++;
        onCrash?.(candidate.sql);
      }
      if (outcome.findings.length > 0 && findings.length < maxFindings)
        findings.push(describeFinding(seed, candidate.id, outcome.findings, await shorten(candidate)));
    }
  };

  try {
    let batch: Candidate[] = [];
    // One batch runs in its process while the next is generated in this one.
    let running = Promise.resolve();
    for (let id = 0; id < count && findings.length < maxFindings; id++) {
      const candidate = generate(id);
      if (candidate !== undefined) batch.push(candidate);
      if (batch.length < batchSize && id < count - 1) continue;
      await running;
      running = run(batch);
      batch = [];
    }
    await running;
  } finally {
    parser.close();
  }
  return { counts, ends, functions, findings, seesSystemCalls: runner.seesSystemCalls };
}

function endOf(judged: Judgement): string {
  return judged.kind === 'refused' ? judged.code : judged.kind;
}

function describeFinding(seed: number, id: number, found: readonly string[], sql: string): string {
  return `seed ${seed}, statement ${id}: ${[...new Set(found)].slice(0, 4).join('; ')}\n    ${sql}`;
}
