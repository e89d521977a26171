/**
 * The process in which statements run that have passed the gate: an engine that is not locked down, in a folder of
 * canaries (its only argument). Takes requests and answers them as lines of JSON. Before each it asks the system for a
 * file whose name tells the request's number, which is how a trace of the system's calls is cut into statements.
 */
import { accessSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openDuckDbSession } from './duckdb-session.js';
import { watchFiles } from './file-watch.js';
import { markPath, type TracedAnswer, type TracedRequest } from './traced-protocol.js';
import { canary, stateQuery, worldStatements, writeCanaryFiles } from './world.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('there is no folder');
process.chdir(folder);
writeCanaryFiles(folder);
const session = openDuckDbSession();
const ours = { parameters: [], timeoutMs: 60_000 };
for (const sql of worldStatements()) await session.run(sql, ours);
await session.run(stateQuery, ours);
const watch = watchFiles(['.', 'vault']);
watch.taken();
const limits = { timeoutMs: 700 };

for await (const line of createInterface({ input: process.stdin })) {
  const request: TracedRequest = JSON.parse(line);
  const answer = request.kind === 'state' ? await readState(request.id) : await trace(request);
  mark(`idle-${request.id}`);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function mark(name: string): void {
  try {
    accessSync(markPath(name));
  } catch {
    // It is not there; the trace has seen it asked for.
  }
}

async function readState(id: number): Promise<TracedAnswer> {
  mark(`state-${id}`);
  const [state] = await session.run(stateQuery, ours);
  watch.taken();
  return { id, state: state ?? '', bound: false, ran: false, findings: [] };
}

async function trace({ id, sql, parameters }: TracedRequest): Promise<TracedAnswer> {
  mark(String(id));
  const findings: string[] = [];
  const messages: string[] = [];
  const attempt = async <T>(call: Promise<T>): Promise<T | undefined> => {
    try {
      return await call;
    } catch (error) {
      messages.push(String(error));
      return undefined;
    }
  };
  let [bound, ran] = [false, false];
  let rows: readonly unknown[] | undefined;
  const plans: (string | null)[] = [];
  const options = { parameters, ...limits };
  const statement = session.bind(sql, options, async ({ statementType, run }) => {
    bound = true;
    if (statementType !== 1) findings.push(`it is no query for the engine, but of type ${statementType}`);
    const explained = session.run(`EXPLAIN (FORMAT json) ${sql}`, { ...options, column: 1, maxRows: 3 });
    plans.push(...((await attempt(explained)) ?? []));
    rows = await run();
    ran = true;
  });
  await attempt(statement);
  if (rows !== undefined && rows.length > 0) {
    const [seen] = (await attempt(session.run(withCanary(sql), options))) ?? [];
    if (seen !== undefined && seen !== '0') findings.push('its answer holds the canary');
  }
  const told = messages.find((message) => message.includes(canary));
  if (told !== undefined) findings.push(`its error holds the canary: ${told}`);
  for (const path of watch.taken()) findings.push(`it opened ${path}`);
  return { id, bound, ran, findings, plans: plans.map((plan) => plan ?? ''), error: messages[0] };
}

/** How many rows of the answer hold the canary, in whatever column. */
function withCanary(sql: string): string {
  return `SELECT count(*) FILTER (contains(lower(answer::VARCHAR), lower('${canary}')))::VARCHAR FROM (${sql}\n) AS answer`;
}
