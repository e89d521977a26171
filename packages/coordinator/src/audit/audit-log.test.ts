import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { createLogger, createMetrics, parseLogFilter } from '@svc/base';
import type { AuditFile } from './audit-file.js';
import { AuditLog, type AuditLogOptions } from './audit-log.js';

describe('an audit log', () => {
  it('writes lines in the order in which they came, many at a time', async () => {
    const { log, disk } = openLog();
    const lines = Array.from({ length: 5000 }, (_none, index) => `${index}\n`);
    for (const line of lines) log.add(line, false);
    await log.close(1000);
    assert.equal(disk.text('audit'), lines.join(''));
    assert.ok(disk.writes < 10, `${disk.writes} writes`);
  });

  it('goes on where the system took only a part', async () => {
    const { log, disk } = openLog();
    disk.partBytes = 3;
    for (const line of ['first line\n', 'second line\n']) log.add(line, false);
    await log.close(1000);
    assert.equal(disk.text('audit'), 'first line\nsecond line\n');
  });

  it('completes the line that a full disk cut, and what waits behind it', async () => {
    const { log, disk, written } = openLog();
    disk.roomBytes = 4;
    log.add('first line\n', false);
    await disk.failed();
    log.add('second line\n', false);
    disk.roomBytes = 1000;
    await written(2);
    assert.equal(disk.text('audit'), 'first line\nsecond line\n');
    await log.close(1000);
  });

  it('refuses statements while it cannot be written, and takes them again by itself', async () => {
    const { log, disk, written, records } = openLog();
    log.throwIfUnavailable();
    disk.roomBytes = 0;
    log.add('first\n', false);
    await disk.failed();
    assert.throws(() => log.throwIfUnavailable(), { code: 'AUDIT_UNAVAILABLE', retryable: true });
    disk.roomBytes = 1000;
    await written(1);
    log.throwIfUnavailable();
    assert.deepEqual(
      records().map(({ level, message }) => [level, message]),
      [
        ['error', 'The audit log cannot be written.'],
        ['info', 'The audit log is written again.'],
      ],
    );
    await log.close(1000);
  });

  it('that only counts refuses nothing, and counts what it has no room for', async () => {
    const { log, disk, counts } = openLog({ onFailure: 'count', maxPendingBytes: 20 });
    disk.roomBytes = 0;
    for (let line = 0; line < 4; line += 1) log.add('ten bytes\n', false);
    await disk.failed();
    log.throwIfUnavailable();
    assert.deepEqual(await counts(), { written: 0, dropped: 2 });
    await log.close(10);
    assert.deepEqual(await counts(), { written: 0, dropped: 4 });
  });

  it('keeps room for statements that ran, however many are refused meanwhile', async () => {
    const { log, disk, counts, written } = openLog({ maxPendingBytes: 40 });
    disk.roomBytes = 0;
    for (let line = 0; line < 9; line += 1) log.add('refused !\n', true);
    await disk.failed();
    for (let line = 0; line < 2; line += 1) log.add('that ran.\n', false);
    assert.deepEqual(await counts(), { written: 0, dropped: 7 });
    disk.roomBytes = 1000;
    await written(4);
    assert.equal(disk.text('audit'), 'refused !\nrefused !\nthat ran.\nthat ran.\n');
    await log.close(1000);
  });

  it('refuses statements also when a slow disk has left half of the room behind', async () => {
    const { log, disk } = openLog({ maxPendingBytes: 20 });
    disk.hold();
    for (let line = 0; line < 2; line += 1) log.add('ten bytes\n', false);
    assert.throws(() => log.throwIfUnavailable(), { code: 'AUDIT_UNAVAILABLE' });
    disk.letGo();
    await log.close(1000);
    assert.equal(disk.text('audit'), 'ten bytes\nten bytes\n');
  });

  it('takes a line that is longer than all its room', async () => {
    const { log, disk } = openLog({ maxPendingBytes: 20 });
    const line = `${'x'.repeat(3_000_000)}\n`;
    log.add(line, false);
    await log.close(1000);
    assert.equal(disk.text('audit'), line);
  });

  it('tells of a disk that stays full once a minute, and how many lines were lost', async () => {
    let now = 0;
    const { log, disk, records } = openLog({ elapsed: () => now, maxPendingBytes: 10 });
    disk.roomBytes = 0;
    log.add('ten bytes\n', false);
    for (let attempt = 0; attempt < 5; attempt += 1) await disk.failed();
    for (let line = 0; line < 5; line += 1) log.add('ten bytes\n', false);
    now = 60_000;
    log.add('ten bytes\n', false);
    assert.deepEqual(
      records().map(({ lines_lost }) => lines_lost),
      [0, 6],
    );
    await log.close(10);
  });

  it('ends at its deadline when the disk does not answer', async () => {
    const { log, disk, counts } = openLog();
    disk.hold();
    log.add('line\n', false);
    await log.close(10);
    await log.close(10);
    log.add('later\n', false);
    assert.deepEqual(await counts(), { written: 0, dropped: 2 });
    disk.letGo();
  });
});

describe('an audit log that is opened again', () => {
  it('leaves whole lines in the old file and loses none', async () => {
    const { log, disk, written } = openLog();
    disk.roomBytes = 4;
    log.add('first line\n', false);
    await disk.failed();
    disk.rename('audit', 'audit.1');
    log.add('second line\n', false);
    disk.roomBytes = 1000;
    log.reopen();
    await written(2);
    assert.deepEqual([disk.text('audit.1'), disk.text('audit')], ['first line\n', 'second line\n']);
    await log.close(1000);
  });

  it('takes the part of a line off a file that has no room for the rest', async () => {
    const { log, disk, written } = openLog();
    log.add('before\n', false);
    await written(1);
    disk.roomBytes = 4;
    log.add('first line\n', false);
    await disk.failed();
    disk.rename('audit', 'audit.1');
    log.reopen();
    await disk.failed();
    disk.roomBytes = 1000;
    await written(2);
    assert.deepEqual([disk.text('audit.1'), disk.text('audit')], ['before\n', 'first line\n']);
    await log.close(1000);
  });

  it('goes on in the old file when the new one cannot be opened', async () => {
    const { log, disk, written } = openLog();
    disk.rename('audit', 'audit.1');
    disk.canOpen = false;
    log.reopen();
    log.add('line\n', false);
    await written(1);
    assert.equal(disk.text('audit.1'), 'line\n');
    await log.close(1000);
  });

  it('is opened by itself when its file was removed, and writes the lines again', async () => {
    const { log, disk, written } = openLog();
    log.add('before\n', false);
    await written(1);
    disk.remove('audit');
    disk.canOpen = false;
    log.add('line\n', false);
    await disk.failed();
    assert.throws(() => log.throwIfUnavailable(), { code: 'AUDIT_UNAVAILABLE' });
    disk.canOpen = true;
    await written(2);
    assert.equal(disk.text('audit'), 'line\n');
    log.throwIfUnavailable();
    await log.close(1000);
  });
});

/** Files in memory on a disk with so much room. */
class FakeDisk {
  roomBytes = Number.POSITIVE_INFINITY;
  /** At most so much is taken by one write. */
  partBytes = Number.POSITIVE_INFINITY;
  canOpen = true;
  writes = 0;
  readonly #files = new Map<string, { content: Buffer; isGone: boolean }>();
  readonly #events = new EventTarget();
  #held: Promise<void> | undefined;
  #release = () => {};

  open(name: string): AuditFile {
    if (!this.canOpen) throw this.#failure('EACCES');
    const file = this.#files.get(name) ?? { content: Buffer.alloc(0), isGone: false };
    this.#files.set(name, file);
    return {
      append: async (bytes) => {
        this.writes += 1;
        await this.#held;
        const count = Math.min(bytes.length, this.roomBytes, this.partBytes);
        if (count === 0) throw this.#failure('ENOSPC');
        this.roomBytes -= count;
        file.content = Buffer.concat([file.content, bytes.subarray(0, count)]);
        return count;
      },
      isGone: async () => file.isGone,
      cutBack: async (bytes) => {
        assert.ok(file.content.subarray(-bytes.length).equals(bytes));
        file.content = file.content.subarray(0, file.content.length - bytes.length);
      },
      close: async () => {},
    };
  }

  text(name: string): string {
    return String(this.#files.get(name)?.content ?? '');
  }

  rename(from: string, to: string): void {
    const file = this.#files.get(from);
    assert.ok(file !== undefined);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  remove(name: string): void {
    const file = this.#files.get(name);
    assert.ok(file !== undefined);
    file.isGone = true;
    this.#files.delete(name);
  }

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  letGo(): void {
    this.#release();
  }

  /** The next failure, and what it brings about. */
  async failed(): Promise<void> {
    await once(this.#events, 'failed');
    await new Promise((resolve) => setImmediate(resolve));
  }

  #failure(code: string): Error {
    setImmediate(() => this.#events.dispatchEvent(new Event('failed')));
    return Object.assign(new Error(`${code}: as told`), { code });
  }
}

function openLog(changes: Partial<AuditLogOptions> = {}) {
  const disk = new FakeDisk();
  const metrics = createMetrics();
  const lines: string[] = [];
  let count = 0;
  let onWritten = () => {};
  const logger = createLogger('svc::audit', {
    write: (line) => lines.push(line),
    filter: parseLogFilter('trace'),
  });
  const log = new AuditLog(disk.open('audit'), {
    open: async () => disk.open('audit'),
    path: 'audit',
    onFailure: 'refuse',
    maxPendingBytes: 1_000_000,
    gatherMs: 0,
    retryMs: 1,
    elapsed: () => 0,
    metrics: {
      auditRecords: {
        inc: (labels, amount = 1) => {
          metrics.auditRecords.inc(labels, amount);
          if (labels.outcome === 'written') count += Number(amount);
          onWritten();
        },
      },
    },
    logger,
    ...changes,
  });
  return {
    log,
    disk,
    /** Until so many lines were written in all. */
    written: async (wanted: number) => {
      while (count < wanted)
        await new Promise<void>((resolve) => {
          onWritten = resolve;
        });
      await new Promise((resolve) => setImmediate(resolve));
    },
    counts: async () => {
      const text = await metrics.text();
      const of = (outcome: string) =>
        Number(new RegExp(`svc_audit_records_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
      return { written: of('written'), dropped: of('dropped') };
    },
    records: () =>
      lines.map((line): { level: string; message: string; lines_lost?: number } => JSON.parse(line)),
  };
}
