import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { QueryError } from '@svc/base';
import type { ObjectStore } from '@svc/lake';
import type { Policy } from '../policy.js';
import { changedRules } from '../policy-change.js';
import { createFilePlace } from './file-place.js';
import { createObjectPlace } from './object-place.js';
import type { Rules } from './rule-document.js';
import { openRuleStore, type RuleStore } from './rule-store.js';

const signal = new AbortController().signal;
const catalogs = ['lake'];
const location = 's3://bucket/policies.json';
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-policies-'));
});
after(async () => await rm(folder, { recursive: true, force: true }));

describe('rules in a file', () => {
  test('are there again after a restart, readable by the owner only, with nothing left beside', async () => {
    const path = join(folder, 'kept', 'policies.json');
    const store = await openRuleStore(createFilePlace(path), { catalogs }, signal);
    const policies = [policy('a'), policy('b', { column: 'ssn' })];
    const grants = [{ privilege: 'SELECT', target: policy('a').target, role: 'r', origin: 'sql' } as const];
    await store.change(() => ({ policies, grants }), signal);
    const again = await openRuleStore(createFilePlace(path), { catalogs }, signal);
    assert.deepEqual(again.current(), { policies, grants });
    assert.deepEqual(await readdir(join(folder, 'kept')), ['policies.json']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('that are damaged do not open, naming file and place but no expression', async () => {
    const damages = [
      ['{"version":1', /not JSON/],
      ['{"version":2}', /version/],
      [
        '{"version":1,"policies":[{"name":"p","schema":"s","row_filter":"a) or (secret","to":["r"]}]}',
        /policies\[0\] \("p"\)/,
      ],
      ['{"version":1,"policies":[{"name":"p","schema":"s","row_filter":"a","to":[]}]}', /`to`/],
      [
        '{"version":1,"policies":[{"name":"p","schema":"s","row_filter":"a","to":["r"],"excpt":["x"]}]}',
        /excpt/,
      ],
      [
        '{"version":1,"policies":[{"name":"p","catalog":"other","schema":"s","row_filter":"a","to":["r"]}]}',
        /catalog "other"/,
      ],
      ['{"version":1,"grants":[{"schema":"s","privileges":["READ"],"to":["r"]}]}', /`privileges`/],
    ] as const;
    for (const [index, [text, says]] of damages.entries()) {
      const path = join(folder, `damaged${index}.json`);
      await writeFile(path, text);
      await assert.rejects(
        openRuleStore(createFilePlace(path), { catalogs }, signal),
        (error: QueryError) => {
          assert.equal(error.code, 'CONFIGURATION_ERROR');
          assert.match(error.message, says);
          assert.ok(error.message.includes(path) && !error.message.includes('secret'));
          return true;
        },
      );
    }
  });

  test('stay as they are where an edit is refused, the folder cannot be written or another process wrote', async () => {
    const path = join(folder, 'refused.json');
    const store = await openRuleStore(createFilePlace(path), { catalogs }, signal);
    await store.change(add('a'), signal);
    await assert.rejects(store.change(add('a'), signal), { code: 'ALREADY_EXISTS' });
    const kept = await readFile(path, 'utf8');
    await rm(path);
    await assert.rejects(store.change(add('b'), signal), { code: 'STORAGE_ERROR', message: /gone/ });
    assert.deepEqual(names(store), ['a']);
    await writeFile(path, kept);
    await chmod(path, 0o600);
    await store.change(add('b'), signal);
    assert.deepEqual(names(store), ['a', 'b']);
  });
});

describe('rules in an object', () => {
  test('of several coordinators are changed by all of them, and nothing is lost', async () => {
    const shared = memoryStore();
    const stores = await Promise.all([0, 1, 2].map(() => openAt(shared)));
    await Promise.all(
      stores.flatMap((store, index) =>
        [0, 1, 2].map((each) => store.change(add(`p${index}${each}`), signal)),
      ),
    );
    for (const store of stores) await store.refresh(signal);
    for (const store of stores) assert.equal(names(store).length, 9);
    assert.ok(shared.conflicts > 0, 'the test must have races');
  });

  test('are read again only where the object changed', async () => {
    const shared = memoryStore();
    const [one, other] = [await openAt(shared), await openAt(shared)];
    await one.change(add('a'), signal);
    assert.equal(await other.refresh(signal), true);
    const { reads } = shared;
    assert.equal(await other.refresh(signal), false);
    assert.equal(shared.reads, reads);
  });

  test('that are damaged, gone or unreachable while running leave those from before', async () => {
    const shared = memoryStore();
    const store = await openAt(shared);
    await store.change(add('a'), signal);
    const kept = shared.text;
    shared.set('{');
    await assert.rejects(store.refresh(signal), { code: 'CONFIGURATION_ERROR' });
    await assert.rejects(store.change(add('b'), signal), { code: 'CONFIGURATION_ERROR' });
    shared.set(undefined);
    await assert.rejects(store.refresh(signal), { code: 'STORAGE_ERROR' });
    shared.failure = new QueryError('STORAGE_ERROR', 'down');
    await assert.rejects(store.refresh(signal), { code: 'STORAGE_ERROR' });
    assert.deepEqual(names(store), ['a']);
    shared.failure = undefined;
    shared.set(kept);
    await store.refresh(signal);
    assert.deepEqual(names(store), ['a']);
  });
});

function policy(name: string, { column }: { readonly column?: string } = {}): Policy {
  const rule =
    column === undefined
      ? ({ kind: 'row-filter', expression: "a = 'x'" } as const)
      : ({ kind: 'column-mask', column, expression: 'NULL' } as const);
  const target = { catalog: 'lake', schema: 's', table: 't' };
  return {
    name,
    origin: 'sql',
    target,
    rule,
    roles: ['r', 'PUBLIC'],
    except: column === undefined ? [] : ['x'],
  };
}

function add(name: string): (rules: Rules) => Rules {
  return (rules) => changedRules(rules, { kind: 'create-policy', policy: policy(name), orReplace: false });
}

function names(store: RuleStore): readonly string[] {
  return store.current().policies.map((each) => each.name);
}

function openAt(shared: ReturnType<typeof memoryStore>): Promise<RuleStore> {
  return openRuleStore(createObjectPlace(shared, location), { catalogs }, signal);
}

/** One object with the conditions of S3, and turns in which others may come between. */
function memoryStore() {
  let revision = 0;
  const info = () => ({ location, sizeBytes: shared.text?.length ?? 0, version: `"${revision}"` });
  const missing = () => new QueryError('DATA_FILE_MISSING', 'missing');
  const turn = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    if (shared.failure !== undefined) throw shared.failure;
  };
  const shared = {
    text: undefined as string | undefined,
    failure: undefined as QueryError | undefined,
    reads: 0,
    conflicts: 0,
    set(text: string | undefined) {
      shared.text = text;
      revision++;
    },
    async head() {
      await turn();
      if (shared.text === undefined) throw missing();
      return info();
    },
    async read(_location: string, { version }: Parameters<ObjectStore['read']>[1] = {}) {
      await turn();
      shared.reads++;
      if (shared.text === undefined) throw missing();
      if (version !== info().version) throw new QueryError('STORAGE_ERROR', 'changed');
      return Buffer.from(shared.text);
    },
    async write(_location: string, body: Uint8Array, options: Parameters<ObjectStore['write']>[2] = {}) {
      await turn();
      const isMet =
        options.ifAbsent === true
          ? shared.text === undefined
          : shared.text !== undefined && options.ifVersion === info().version;
      if (!isMet) {
        shared.conflicts++;
        throw new QueryError('COMMIT_CONFLICT', 'lost');
      }
      shared.set(Buffer.from(body).toString());
      return info();
    },
  };
  return shared;
}
