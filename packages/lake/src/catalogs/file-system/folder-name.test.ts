import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { candidateFolders, folderOfName, nameOfFolder } from './folder-name.js';

const awkward = [
  'plain',
  'with space',
  'a.b',
  'x.db',
  'X.DB',
  '.',
  '..',
  '...',
  '.hidden',
  '../../etc/passwd',
  'a/b',
  'a\\b',
  'quote"d',
  "quote'd",
  'per%cent',
  '%2F',
  '100%',
  'überß 表 😀',
  'a?b#c*d[e]',
  'new\nline',
  'metadata',
  '~',
  '-rf',
  'C:',
];

test('every name is one visible folder, and comes back from it', () => {
  for (const name of awkward) {
    const folder = folderOfName(name);
    assert.ok(folder !== undefined, name);
    assert.equal(join(resolve('/root', folder), '..'), '/root', name);
    assert.ok(!folder.startsWith('.'), name);
    assert.equal(nameOfFolder(folder), name);
    assert.equal(nameOfFolder(`${folder}.db`), name);
    assert.equal(candidateFolders(name)[0], folder);
  }
  assert.equal(new Set(awkward.map(folderOfName)).size, awkward.length);
});

test('no candidate of any name leads out of its parent', () => {
  for (const name of [...awkward, '/', '//', '\\', '..\\..', '.db', '/etc', 'a/../../b'])
    for (const folder of candidateFolders(name)) {
      assert.equal(resolve('/root', folder, '..'), '/root', name);
      assert.equal(nameOfFolder(folder), name);
    }
});

test('the empty name, NUL, broken Unicode and overlong names have no folder', () => {
  for (const name of ['', 'a\0b', '\ud800', 'x'.repeat(256), 'é'.repeat(128)])
    assert.deepEqual(candidateFolders(name), []);
});

test('folders of other writers keep their names', () => {
  assert.equal(nameOfFolder('100%'), '100%');
  assert.equal(nameOfFolder('a%zz'), 'a%zz');
  assert.equal(nameOfFolder('%41'), '%41', 'not how this catalog would write A');
  assert.equal(nameOfFolder('sales.db'), 'sales');
  assert.deepEqual(candidateFolders('100%'), ['100%25', '100%25.db', '100%', '100%.db']);
});
