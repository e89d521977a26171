import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { locatePath } from './locate-path.js';
import { readingFunctionOf } from './reading-function.js';

const context = { workingDirectory: '/data/here', homeDirectory: '/home/ada' };

describe('a path of a statement', () => {
  it('begins from the working folder, the home folder or the root', () => {
    const paths = {
      'x.csv': '/data/here/x.csv',
      '../x*.csv': '/data/x*.csv',
      '/tmp/x.csv': '/tmp/x.csv',
      '~/x.csv': '/home/ada/x.csv',
      '~': '/home/ada',
      'a~b': '/data/here/a~b',
      'file:///tmp/a%20b.csv': '/tmp/a b.csv',
      'C:x': '/data/here/C:x',
    };
    for (const [written, path] of Object.entries(paths))
      assert.deepEqual(locatePath(written, context), { kind: 'local', path, pattern: path }, written);
  });

  it('means its own folder alone, whatever that is called', () => {
    const strange = { workingDirectory: '/w[1]/p*', homeDirectory: '/h?' };
    assert.deepEqual(locatePath('*.csv', strange), {
      kind: 'local',
      path: '/w[1]/p*/*.csv',
      pattern: '/w[[]1]/p[*]/*.csv',
    });
    const { pattern } = { pattern: '', ...locatePath('~/a.csv', strange) };
    assert.equal(pattern, '/h[?]/a.csv');
    assert.deepEqual(locatePath('../a.csv', strange), {
      kind: 'local',
      path: '/w[1]/a.csv',
      pattern: '/w[[]1]/a.csv',
    });
  });

  it('is elsewhere by its scheme', () => {
    for (const location of ['https://host/x.csv', 'S3://bucket/*.parquet', 's3a://b/k'])
      assert.deepEqual(locatePath(location, context), { kind: 'remote', location });
  });

  it('is refused by name when nothing reads it', () => {
    assert.throws(() => locatePath('gs://bucket/x.csv', context), {
      code: 'NOT_SUPPORTED',
      message: /not from gs/,
    });
    for (const written of ['', ' ', 'a\0b', 'file://host/x.csv'])
      assert.throws(() => locatePath(written, context), { code: 'INVALID_ARGUMENT' }, written);
  });
});

describe('a file in place of a table', () => {
  it('says by its name how it is read', () => {
    const functions = {
      'a.PARQUET': 'read_parquet',
      '*.csv.gz': 'read_csv',
      'a.b/x.tsv': 'read_csv',
      'x.ndjson.zst': 'read_json',
      'https://host/x.json?token=1': 'read_json',
      'q?.csv': 'read_csv',
      'a#1.parquet': 'read_parquet',
      'tables/orders': 'delta_scan',
      'orders.delta/': 'delta_scan',
    };
    for (const [path, name] of Object.entries(functions)) assert.equal(readingFunctionOf(path), name, path);
  });

  it('is refused when it does not', () => {
    for (const path of ['x.xlsx', 'x.parquet.gz', 'x.db', 'constructor.constructor', 'folder/*', 'gro?'])
      assert.throws(() => readingFunctionOf(path), { code: 'INVALID_ARGUMENT' }, path);
  });
});
