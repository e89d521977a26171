import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ObjectStore } from '@svc/lake';
import { expandPattern } from './expand-pattern.js';

const files = ['a.csv', 'b.txt', 'y=1/a.csv', 'y=1/m=2/a.csv', 'y=2/b.csv', 'z/a[1].csv', 'z/{a,b}.csv'];

/** A bucket that has these files, and notes which folders are listed. */
function bucket() {
  const listed: string[] = [];
  const list: ObjectStore['list'] = async (folder) => {
    listed.push(folder);
    const prefix = `${folder}/`.slice('s3://b/'.length);
    const names = files.flatMap((file) => (file.startsWith(prefix) ? [file.slice(prefix.length)] : []));
    return [...new Set(names.map((name) => name.split('/')[0] ?? ''))].map((name) => ({
      name,
      isFolder: !names.includes(name),
    }));
  };
  // Nothing else is asked of it.
  return { store: { list } as Pick<ObjectStore, 'list'> as ObjectStore, listed };
}

async function expand(pattern: string) {
  const { store, listed } = bucket();
  const found = await expandPattern(pattern, store, new AbortController().signal);
  return { found: found.map((location) => location.slice('s3://b/'.length)), listed };
}

it('finds what a pattern means, folder by folder', async () => {
  assert.deepEqual((await expand('s3://b/*.csv')).found, ['a.csv']);
  assert.deepEqual((await expand('s3://b/y=?/*.csv')).found, ['y=1/a.csv', 'y=2/b.csv']);
  assert.deepEqual((await expand('s3://b/**/a.csv')).found, ['a.csv', 'y=1/a.csv', 'y=1/m=2/a.csv']);
  assert.deepEqual((await expand('s3://b/y=[13]/**')).found, ['y=1/a.csv', 'y=1/m=2/a.csv']);
  assert.deepEqual((await expand('s3://b/z/{a,b}.*')).found, ['z/{a,b}.csv']);
});

it('lists only where the pattern leads', async () => {
  assert.deepEqual((await expand('s3://b/y=1/*.csv')).listed, ['s3://b/y=1']);
  assert.deepEqual((await expand('s3://b/y*/*.csv')).listed, ['s3://b', 's3://b/y=1', 's3://b/y=2']);
});

it('says what is wrong with it', async () => {
  await assert.rejects(expand('s3://b/*.json'), { code: 'DATA_FILE_MISSING', message: /s3:\/\/b\/\*\.json/ });
  await assert.rejects(expand('s3://*/x.csv'), { code: 'INVALID_ARGUMENT' });
});
