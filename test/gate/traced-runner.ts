/** Runs many statements on traced engines: a new one after a crash, and each on its own where the state has changed. */
import { type ForeignScans, foreignScansIn } from './plan-scans.js';
import { canTrace, openTracedEngine, type TracedEngine } from './traced-engine.js';
import type { TracedAnswer } from './traced-protocol.js';

export interface TracedStatement {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly string[];
}

export interface TracedOutcome {
  readonly bound: boolean;
  readonly ran: boolean;
  /** The engine ended over it: its own fault, since every host of the service may be lost and replaced. */
  readonly crashed: boolean;
  readonly findings: readonly string[];
  readonly error?: string | undefined;
}

export interface TracedRunner extends AsyncDisposable {
  readonly seesSystemCalls: boolean;
  /** One outcome for each, in their order. */
  run(statements: readonly TracedStatement[]): Promise<readonly TracedOutcome[]>;
}

const crash: TracedOutcome = { bound: true, ran: false, crashed: true, findings: [] };

export async function openTracedRunner(scans: ForeignScans): Promise<TracedRunner> {
  const trace = canTrace();
  let engine: TracedEngine = await openTracedEngine({ trace });
  let state = await engine.state();
  const renew = async () => {
    await engine[Symbol.asyncDispose]();
    engine = await openTracedEngine({ trace });
    state = await engine.state();
  };

  const runAll = async (statements: readonly TracedStatement[]): Promise<readonly TracedOutcome[]> => {
    const outcomes: TracedOutcome[] = [];
    while (outcomes.length < statements.length) {
      const answers = await engine.run(statements.slice(outcomes.length));
      const fatal = answers.findIndex(isFatal);
      const sound = fatal === -1 ? answers : answers.slice(0, fatal);
      outcomes.push(...sound.map((answer) => outcomeOf(answer, scans)));
      if (outcomes.length === statements.length) break;
      outcomes.push(crash);
      await renew();
    }
    return outcomes;
  };

  /** Each with the state before and after it, to know which of them changed it. */
  const runApart = async (statements: readonly TracedStatement[]): Promise<readonly TracedOutcome[]> => {
    const outcomes: TracedOutcome[] = [];
    for (const statement of statements) {
      const [outcome = crash] = await runAll([statement]);
      const isChanged = (await engine.state()) !== state;
      if (isChanged) await renew();
      const findings = isChanged
        ? [...outcome.findings, 'it changed what the engine keeps']
        : outcome.findings;
      outcomes.push({ ...outcome, findings });
    }
    return outcomes;
  };

  return {
    seesSystemCalls: engine.seesSystemCalls,
    run: async (statements) => {
      const outcomes = await runAll(statements);
      if ((await engine.state()) === state) return outcomes;
      await renew();
      return await runApart(statements);
    },
    [Symbol.asyncDispose]: async () => await engine[Symbol.asyncDispose](),
  };
}

function outcomeOf({ bound, ran, findings, plans, error }: TracedAnswer, scans: ForeignScans): TracedOutcome {
  return {
    bound,
    ran,
    crashed: false,
    findings: [...findings, ...foreignScansIn(plans ?? [], scans)],
    error,
  };
}

/** After such an error the engine refuses everything. */
function isFatal({ error }: TracedAnswer): boolean {
  return /FATAL Error|has been invalidated/.test(error ?? '');
}
