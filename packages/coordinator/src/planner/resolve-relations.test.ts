import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { QueryError } from '@svc/base';
import { createFileStore, type LoadedTable } from '@svc/lake';
import type { ReadableCatalog } from '../catalogs/catalog-directory.js';
import type { PolicyEnforcer } from '../policy/policy-enforcer.js';
import { emptyMetadata } from '../test-support/empty-metadata.js';
import { directoryOf, fakeCatalog } from '../test-support/fake-catalog.js';
import { fakeSession } from '../test-support/fake-session.js';
import type { PlannerDependencies } from './planner-dependencies.js';
import { resolveRelations } from './resolve-relations.js';

describe('the tables of a statement', () => {
  it('are asked for beside each other, each once', async () => {
    const names = ['a', 'b', 'c'];
    const asked: string[] = [];
    const allAreAsked = new AbortController();
    const resolved = await resolve([...names, 'a'], async (name) => {
      asked.push(name);
      if (names.every((each) => asked.includes(each))) allAreAsked.abort();
      else await once(allAreAsked.signal, 'abort');
      return name;
    });
    assert.deepEqual(resolved, names);
    assert.deepEqual(asked, names);
  });

  it('fail with the first that cannot be loaded, in the order of the statement', async () => {
    const failing = resolve(['a', 'b', 'c'], async (name) => {
      if (name === 'a') return await setImmediate(name);
      throw new QueryError('CATALOG_ERROR', `No answer for ${name}.`);
    });
    await assert.rejects(failing, { code: 'CATALOG_ERROR', message: 'No answer for b.' });
  });

  it('are one when one table is named twice, even with a commit in between', async () => {
    assert.deepEqual(await resolve(['t', 'T'], async () => 't'), ['t']);
  });

  it('cannot be two that the engine would take for one', async () => {
    await assert.rejects(
      resolve(['t', 'T'], async (name) => name),
      { code: 'NOT_SUPPORTED', message: /"T" and "t" differ in case only/ },
    );
  });

  it('are decided on by the same rules, or not at all; rules on others are nothing to them', async () => {
    let version = 1;
    const load = async (name: string) => {
      version += 1;
      return name;
    };
    const same = { ...allowing, version: () => String(version) };
    assert.deepEqual(await resolve(['a', 'b'], load, same), ['a', 'b']);
    let decided = 0;
    const changing: PolicyEnforcer = {
      ...allowing,
      decide: () => ({ kind: 'restricted', filters: [], masks: new Map(), applied: [`p${++decided > 2}`] }),
    };
    await assert.rejects(resolve(['a', 'b'], load, changing), { code: 'POLICY_CHANGED' });
    assert.ok(decided > 2);
  });
});

describe('a table that its catalog restricts', () => {
  it('is read by nobody where nothing applies what is demanded', async () => {
    const readRestrictions = { rowFilter: { kind: 'constant', value: false }, columns: [] } as const;
    const restricted = async (name: string) => ({ name, readRestrictions });
    await assert.rejects(resolve(['t'], restricted), { code: 'PERMISSION_DENIED' });
  });
});

const allowing: PolicyEnforcer = {
  version: () => '1',
  identityOf: ({ identity: { username, roles } }) => ({ username, roles, isNameVerified: true }),
  isAdmin: () => false,
  decide: () => ({ kind: 'unrestricted' }),
  mayList: () => true,
  mayHideNames: () => false,
};

/** `nameOf`: what the catalog calls a table that was asked for. Somebody commits after every load. */
async function resolve(
  names: readonly string[],
  nameOf: (written: string) => Promise<string | Answered>,
  enforcer?: PolicyEnforcer,
) {
  const catalogs = directoryOf({ lake: catalogOf(nameOf) });
  // The rest is for views and metadata tables.
  const dependencies = {
    catalogsOf: () => catalogs,
    ...(enforcer && { policies: { enforcer } }),
  } as unknown as PlannerDependencies;
  const { tables } = await resolveRelations(dependencies, {
    requests: names.map((table) => ({ name: { schema: 's', table }, pin: { kind: 'current' } as const })),
    session: fakeSession(),
    signal: new AbortController().signal,
    nowMs: 0,
    parameters: 'not bound yet',
  });
  return tables.map(({ table }) => table);
}

interface Answered extends Pick<LoadedTable, 'readRestrictions'> {
  readonly name: string;
}

function catalogOf(nameOf: (written: string) => Promise<string | Answered>): ReadableCatalog {
  let version = 0;
  return {
    ...fakeCatalog({ s: [] }),
    async loadTable({ namespace, name }): Promise<LoadedTable> {
      version += 1;
      const metadataLocation = `/t/v${version}.metadata.json`;
      const answer = await nameOf(name);
      const { readRestrictions, ...named } = typeof answer === 'string' ? { name: answer } : answer;
      return {
        identifier: { namespace, ...named },
        ...{ metadata: emptyMetadata, metadataLocation, store: createFileStore(), readRestrictions },
      };
    },
  };
}
