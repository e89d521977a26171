/** Two services whose tables differ in what `analyst` may not see, under the same policies. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlightClient } from '@svc/flight';
import { type OidcProvider, startOidcProvider } from '../../service/support/oidc-provider.js';
import { rows, value } from '../../service/support/results.js';
import { startService, type TestService, type TestServiceOptions } from '../../service/support/service.js';
import { type Answer, type AnsweringWorld, answer, withoutTimes } from './answer.js';
import type { Attack, Call } from './attack.js';
import {
  formerPeopleOf,
  hiddenPeopleOf,
  mappingRows,
  peopleOf,
  staffOf,
  unseenPeople,
  type World,
  worlds,
} from './people.js';
import { createPolicySql, policiesOf, type RowFilter, rulesFile } from './policies.js';
import { sharedPolicies, sharedTables } from './shared-tables.js';

const users = {
  root: { password: 'word of root', roles: ['admin'] },
  analyst: { password: 'word of analyst', roles: ['analyst'] },
};
const mapping = 'lake.shared.mapping';

export interface TwoWorldsOptions {
  /** Each has a schema of its name. Those with an even place have their policies by SQL, the others by the rules file. */
  readonly filters: readonly RowFilter[];
  /** Default: true. Without policies nearly every attack must tell the worlds apart, which shows that it is one. */
  readonly hasPolicies?: boolean;
  readonly service?: Pick<TestServiceOptions, 'config' | 'openExecutors'>;
}

export interface Difference {
  readonly schema: string;
  readonly attack: string;
  readonly call: string;
  readonly quiet: Answer;
  readonly loud: Answer;
}

export interface TwoWorlds extends AsyncDisposable {
  /** Makes all calls in both worlds in turn; answers the first that differ. */
  compare(schema: string, attack: Attack, options?: CompareOptions): Promise<Compared>;
  readonly services: readonly TestService[];
  /** Of the user who attacks. */
  readonly credentials: { readonly username: string; readonly password: string };
}

export interface CompareOptions {
  /** Statements that the session begins with. */
  readonly settings?: readonly string[];
  /** Rows may come in any order where the statement does not say one, as parts of a divided one do. */
  readonly isReordered?: boolean;
}

export interface Compared {
  readonly difference: Difference | undefined;
  /** Of the last call, in the quiet world. */
  readonly answer: Answer;
}

interface OpenWorld {
  readonly world: World;
  readonly service: TestService;
  readonly admin: FlightClient;
  readonly fills: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

export async function openTwoWorlds(options: TwoWorldsOptions): Promise<TwoWorlds> {
  const provider = await startOidcProvider({ users });
  const folder = await mkdtemp(join(tmpdir(), 'svc-rules-'));
  const opened = await Promise.all(worlds.map((world) => openWorld(world, { provider, folder }, options)));
  const sessions = new Map<string, readonly AnsweringWorld[]>();
  const openSessions = async (schema: string, settings: readonly string[]) => {
    const key = JSON.stringify([schema, settings]);
    const kept = sessions.get(key);
    if (kept !== undefined) return kept;
    const clients = await Promise.all(opened.map(({ service }) => signIn(service, 'analyst')));
    for (const client of clients)
      for (const setting of [`USE lake.${schema}`, ...settings]) await rows(client, setting);
    const answering = opened.map((world, index) => answeringWorld(world, schema, clients[index]));
    sessions.set(key, answering);
    return answering;
  };
  return {
    services: opened.map(({ service }) => service),
    credentials: { username: 'analyst', password: users.analyst.password },
    async compare(schema, attacked, { settings = [], isReordered = false } = {}) {
      const [first, second] = await openSessions(schema, settings);
      if (first === undefined || second === undefined) throw new TypeError('There are two worlds.');
      // What such a statement changes would hold for the next attack.
      if (attacked.calls.some((call) => 'sql' in call && /^(USE|SET|PRAGMA)\b/.test(call.sql)))
        sessions.clear();
      let last: Answer = { said: '', bytes: '' };
      for (const call of attacked.calls) {
        const ask = () => Promise.all([answer(first, call), answer(second, call)]);
        const isSame = (quiet: Answer, loud: Answer) =>
          isEqual(quiet, loud) || (isReordered && isEqualSet(call, quiet, loud));
        let [quiet, loud] = await ask();
        for (let tries = 1; tries < maxTries && picksOne(call) && !isSame(quiet, loud); tries++)
          [quiet, loud] = await ask();
        last = quiet;
        if (isSame(quiet, loud)) continue;
        const difference = {
          schema,
          attack: attacked.attack,
          call: JSON.stringify(call, asText),
          quiet,
          loud,
        };
        return { difference, answer: quiet };
      }
      return { difference: undefined, answer: last };
    },
    async [Symbol.asyncDispose]() {
      for (const { service } of opened) await service[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Of what depends on which thread or split is the first. What is hidden would tell the worlds apart each time. */
const maxTries = 10;

/** Whether it picks one of rows that are equal to it, as all are by a masked column. */
function picksOne(call: Call): boolean {
  return 'sql' in call && /\b(arg_(max|min)|(max|min)_by)\(/i.test(call.sql);
}

function isEqual(quiet: Answer, loud: Answer): boolean {
  return quiet.said === loud.said && quiet.bytes === loud.bytes;
}

/** What comes in an order of its own is cut into messages of its own: of these nothing is compared. */
function isEqualSet(call: Call, quiet: Answer, loud: Answer): boolean {
  const isOrdered = !('sql' in call) || /\bORDER BY\b|\bEXPLAIN\b/i.test(call.sql);
  const sorted = ({ said }: Answer) => said.split('\n').sort().join('\n');
  return !isOrdered && sorted(quiet) === sorted(loud);
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

async function openWorld(
  world: World,
  { provider, folder }: { readonly provider: OidcProvider; readonly folder: string },
  { filters, hasPolicies = true, service: given }: TwoWorldsOptions,
): Promise<OpenWorld> {
  const policies = hasPolicies ? filters.map((filter) => policiesOf(filter, mapping)) : [];
  const rulesPath = join(folder, `${world}.toml`);
  await writeFile(rulesPath, rulesFile(policies.filter((_each, index) => index % 2 === 1).flat()));
  const service = await startService({
    ...given,
    config: {
      'auth.idp_url': provider.url,
      'auth.client_id': provider.clientId,
      'auth.client_secret': provider.clientSecret,
      'auth.admin_role': 'admin',
      'session.max_per_user': 50,
      ...(hasPolicies && { 'policy.rules_file': rulesPath }),
      ...given?.config,
    },
  });
  const admin = await signIn(service, 'root');
  const fills = new Map<string, Readonly<Record<string, string>>>();
  for (const sql of [
    'CREATE SCHEMA shared',
    `CREATE TABLE ${mapping} AS ${mappingRows}`,
    ...sharedTables(world),
  ])
    await admin.update(sql);
  const late = await beforeLastCommit(admin, 'wide.late');
  for (const { name } of filters) {
    for (const sql of tablesIn(name, world)) await admin.update(sql);
    fills.set(name, { ...(await pointsInTime(admin, name)), late });
  }
  for (const policy of policies.filter((_each, index) => index % 2 === 0).flat())
    await rows(admin, createPolicySql(policy));
  if (hasPolicies) for (const sql of sharedPolicies) await rows(admin, sql);
  return { world, service, admin, fills };
}

async function signIn(service: TestService, username: keyof typeof users): Promise<FlightClient> {
  const client = service.stranger();
  await client.signIn(username, users[username].password);
  return client;
}

/** `people` has three snapshots that tell of shown rows. */
function tablesIn(schema: string, world: World): readonly string[] {
  return [
    `CREATE SCHEMA ${schema}`,
    `CREATE TABLE ${schema}.people AS ${formerPeopleOf(world)}`,
    `CREATE OR REPLACE TABLE ${schema}.people AS ${peopleOf(world)}`,
    `INSERT INTO ${schema}.people ${hiddenPeopleOf(world)}`,
    // A commit of which nobody may know: it added hidden rows only.
    ...(world === 'loud' ? [`INSERT INTO ${schema}.people ${unseenPeople}`] : []),
    `CREATE TABLE ${schema}.staff AS ${staffOf(world)}`,
    `CREATE TABLE ${schema}.closed AS ${staffOf(world)}`,
    `CREATE TABLE ${schema}.ledger AS SELECT id, region FROM ${schema}.people`,
    `CREATE TABLE ${schema}.open AS SELECT i::BIGINT AS id, 'word' || i AS word FROM range(10) r(i)`,
    `CREATE VIEW ${schema}.people_view AS SELECT id, k, ssn, salary FROM ${schema}.people WHERE k < 8`,
    `CREATE VIEW ${schema}.staff_view AS SELECT id, email, team FROM ${schema}.staff`,
  ];
}

async function pointsInTime(admin: FlightClient, schema: string): Promise<Readonly<Record<string, string>>> {
  const snapshots = await rows(
    admin,
    `SELECT snapshot_id::VARCHAR, epoch_ms(committed_at)::VARCHAR FROM ${schema}."people$snapshots" ORDER BY committed_at, operation`,
  );
  const [first] = snapshots;
  const ids = snapshots.map(([id], index) => [['first', 'second', 'third'][index] ?? 'unseen', String(id)]);
  return { ...Object.fromEntries(ids), before: new Date(Number(first?.[1])).toISOString() };
}

async function beforeLastCommit(admin: FlightClient, table: string): Promise<string> {
  const [schema, name] = table.split('.');
  const last = await value(
    admin,
    `SELECT epoch_ms(max(committed_at))::VARCHAR FROM ${schema}."${name}$snapshots"`,
  );
  return new Date(Number(last) - 1).toISOString();
}

function answeringWorld(
  { service, admin, fills }: OpenWorld,
  schema: string,
  client: FlightClient | undefined,
): AnsweringWorld {
  const own = fills.get(schema) ?? {};
  if (client === undefined) throw new TypeError('Nobody has signed in.');
  const names = Object.entries(own);
  return {
    client,
    healthUrl: service.healthUrl,
    fill: (sql) => names.reduce((text, [name, value]) => text.replaceAll(`{{${name}}}`, value), sql),
    neutral: (text) =>
      withoutTimes(
        names
          .reduce((rest, [name, value]) => rest.replaceAll(value, `<${name}>`), text)
          .replaceAll(service.folder, '<folder>')
          .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
          .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
          .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'),
      ),
    changePolicies: async () => {
      await rows(
        admin,
        `CREATE OR REPLACE POLICY changing ON TABLE ${schema}.people ROW FILTER (k < 5) TO analyst EXCEPT admin`,
      );
      await rows(admin, 'DROP POLICY changing');
    },
  };
}

/** What a test's setup has opened. */
export function opened(two: TwoWorlds | undefined): TwoWorlds {
  if (two === undefined) throw new TypeError('The two worlds did not open.');
  return two;
}
