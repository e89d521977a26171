import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { OutputError, openFileSink, streamSink } from './sink.js';

describe('a file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-sink-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('keeps its old content until the new one is complete', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    const sink = await openFileSink(path);
    await sink.write('new');
    assert.equal(await readFile(path, 'utf8'), 'old');
    await sink.end();
    assert.equal(await readFile(path, 'utf8'), 'new');
  });

  it('that is given up leaves nothing behind', async () => {
    const before = await readdir(folder);
    const sink = await openFileSink(join(folder, 'b'));
    await sink.write('half');
    await sink.discard();
    assert.deepEqual(await readdir(folder), before);
  });

  it('that cannot be made is an error of the output', async () => {
    await assert.rejects(openFileSink(join(folder, 'no', 'such')), OutputError);
  });
});

describe('a stream', () => {
  it('whose reader has gone is closed, without an error', async () => {
    const sink = streamSink(failing('EPIPE'));
    await sink.write('x');
    await new Promise((resolve) => setImmediate(resolve));
    await sink.write('y');
    assert.equal(sink.closed.aborted, true);
  });

  it('that fails otherwise says so', async () => {
    const sink = streamSink(failing('ENOSPC'));
    await sink.write('x').catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(sink.write('y'), OutputError);
  });
});

function failing(code: string): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('x'), { code })) });
}
