import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '@svc/base';
import type { ObjectStore } from '@svc/lake';
import type { Spool } from '../../spool/spool.js';
import { SpoolFolder } from './spool-folder.js';

const never = new AbortController().signal;

/** In memory; remembers what was asked of it. */
function fakeSpool() {
  const deleted: string[] = [];
  const store: Partial<ObjectStore> = {
    async delete(location) {
      deleted.push(location.replace(/^.*\//, ''));
    },
  };
  const signer = { sign: async (_method: string, location: string) => `https://spool/${location}` };
  const spool = { location: 's3://bucket/spool', store, signer } as unknown as Spool;
  return { spool, deleted };
}

describe('what an invocation leaves in the spool', () => {
  it('is removed by the count of parts, of no more than there may be', async () => {
    const all = ['part-0', 'part-1', 'part-2'];
    for (const [parts, removed] of [
      [undefined, all],
      [2, all.slice(0, 2)],
      [0, []],
      [1e9, all],
      [Number.MAX_SAFE_INTEGER, all],
    ] as const) {
      const { spool, deleted } = fakeSpool();
      const folder = new SpoolFolder(spool, 'query-1');
      await folder.partUrls(3, never);
      await folder.remove(parts, silentLogger);
      assert.deepEqual(deleted.sort(), removed);
    }
  });
});
