import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertFunctionBundle, bundleProblems } from '../function-bundle';
import { functionBundle } from '../settings';
import { libraryOf, writeFakeBundle } from './render/fake-bundle';

/** A right bundle after one change. */
function problemsAfter(change: (folder: string) => void): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
  try {
    writeFakeBundle(folder);
    change(folder);
    return bundleProblems(folder, functionBundle.handler);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the function’s bundle', () => {
  it('is taken with handler and libraries', () => {
    assert.deepEqual(
      problemsAfter(() => undefined),
      [],
    );
  });

  it('is refused where it was never built', () => {
    assert.throws(() => assertFunctionBundle('/nowhere', functionBundle.handler), /does not exist/);
  });

  it('is refused without the engine or what calls it', () => {
    assert.deepEqual(
      problemsAfter((folder) => rmSync(join(folder, 'libduckdb.so'))),
      ['the engine library is missing'],
    );
    assert.deepEqual(
      problemsAfter((folder) => rmSync(join(folder, 'koffi.node'))),
      ['the library that calls it (koffi) is missing'],
    );
  });

  it('is refused with libraries of another platform, or that are none', () => {
    for (const bytes of [libraryOf('x86_64'), Buffer.from('#!/bin/sh'), Buffer.alloc(0)])
      assert.deepEqual(
        problemsAfter((folder) => writeFileSync(join(folder, 'libduckdb.so'), bytes)),
        ['libduckdb.so is not a library for Linux arm64'],
      );
  });

  it('is refused with a handler that does not stream, or without it', () => {
    assert.match(
      problemsAfter((folder) => writeFileSync(join(folder, 'index.mjs'), 'export {};'))[0] ?? '',
      /does not stream/,
    );
    assert.match(
      problemsAfter((folder) => rmSync(join(folder, 'index.mjs')))[0] ?? '',
      /no module index\.mjs/,
    );
  });

  it('is refused above what Lambda unpacks', () => {
    const problems = problemsAfter((folder) => {
      writeFileSync(join(folder, 'large'), '');
      truncateSync(join(folder, 'large'), 250 * 2 ** 20);
    });
    assert.match(problems[0] ?? '', /are more than the 262144000/);
  });
});
