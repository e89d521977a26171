import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withLogContext } from './context.js';
import { createLogger, type LogFields, type LogLevel, parseLogFilter, silentLogger } from './logger.js';

describe('a log record', () => {
  it('is one JSON line with the fixed fields first', () => {
    const lines = logged({ message: 'Ready.', fields: { rows: 5, user: undefined, done: true } });
    assert.deepEqual(lines, [
      '{"timestamp":"2020-01-02T03:04:05.000Z","level":"info","target":"svc","message":"Ready.","rows":5,"done":true}\n',
    ]);
  });

  it('carries the context of its call, which callers cannot replace', () => {
    const record = withLogContext({ query_id: 'q1' }, () =>
      withLogContext({ user: 'ada' }, () =>
        onlyRecord({ fields: { query_id: 'forged', level: 'forged', message: 'forged', port: 1 } }),
      ),
    );
    assert.deepEqual(Object.fromEntries(record), {
      timestamp: '2020-01-02T03:04:05.000Z',
      level: 'info',
      target: 'svc',
      message: 'm',
      query_id: 'q1',
      user: 'ada',
      port: 1,
    });
  });

  it('follows the context over asynchronous steps', async () => {
    const record = await withLogContext({ request_id: 'r1' }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return onlyRecord({});
    });
    assert.equal(record.get('request_id'), 'r1');
    assert.equal(onlyRecord({}).get('request_id'), undefined);
  });

  it('stays one line and steers no terminal, whatever its text is', () => {
    const hostile = '\r\n{"level":"error"}\u0000\u001b[2J\u007f\u009b31m\u2028\u2029';
    const [line = ''] = logged({ message: hostile, fields: { sql: hostile } });
    assert.equal(line.indexOf('\n'), line.length - 1);
    assert.doesNotMatch(line.slice(0, -1), /\p{Control}|[\u2028\u2029]/u);
    assert.equal(JSON.parse(line).message, hostile);
  });

  it('holds no lone surrogate, neither raw nor escaped', () => {
    const [line = ''] = logged({ message: 'a\ud800b\udc00c \u{1f600}' });
    assert.doesNotMatch(line, /\\ud/i);
    assert.equal(JSON.parse(line).message, 'a\ufffdb\ufffdc \u{1f600}');
  });

  it('cuts long texts, and not in the middle of a character', () => {
    const record = onlyRecord({ message: `x${'\u{1f600}'.repeat(1_000_000)}` });
    const message = String(record.get('message'));
    assert.ok(message.length < 8_300);
    assert.match(message, /\ufffd… \(2000001 characters\)$/);
  });

  it('keeps 64-bit numbers exact', () => {
    const record = onlyRecord({ fields: { rows: 5n, id: 2n ** 63n } });
    assert.deepEqual([record.get('rows'), record.get('id')], [5, '9223372036854775808']);
  });
});

describe('the log filter', () => {
  it('lets info and above through by default', () => {
    assert.deepEqual(levelsThrough(undefined), ['info', 'warn', 'error']);
    assert.deepEqual(levelsThrough(''), ['info', 'warn', 'error']);
  });

  it('reads a level, in any case', () => {
    assert.deepEqual(levelsThrough('trace'), ['trace', 'debug', 'info', 'warn', 'error']);
    assert.deepEqual(levelsThrough(' WARN '), ['warn', 'error']);
    assert.deepEqual(levelsThrough('off'), []);
  });

  it('reads levels by target, where the longest match decides', () => {
    const filter = 'error, svc::lake = debug ,svc::lake::cache=off';
    assert.deepEqual(levelsThrough(filter, 'svc::lake::scan'), ['debug', 'info', 'warn', 'error']);
    assert.deepEqual(levelsThrough(filter, 'svc::lake::cache'), []);
    assert.deepEqual(levelsThrough(filter, 'svc::lakes'), ['error']);
  });

  it('takes a target alone for everything below it', () => {
    assert.deepEqual(levelsThrough('warn,svc::lake', 'svc::lake'), [
      'trace',
      'debug',
      'info',
      'warn',
      'error',
    ]);
    assert.deepEqual(levelsThrough('warn,svc::lake', 'svc'), ['warn', 'error']);
  });

  it('is not silenced by a typing error', () => {
    for (const text of ['inof', 'svc=inof', '=', 'svc=', ',,', 'a=b=c']) {
      assert.ok(levelsThrough(text).includes('info'), text);
    }
  });

  it('goes with a child logger to its own target', () => {
    const lines: string[] = [];
    const options = {
      write: (line: string) => void lines.push(line),
      filter: parseLogFilter('off,svc::lake=info'),
    };
    const logger = createLogger('svc', options);
    logger.log('info', 'dropped');
    logger.child('svc::lake').log('info', 'kept');
    assert.equal(lines.length, 1);
    silentLogger.child('svc::lake').log('error', 'dropped');
  });
});

interface Given {
  readonly message?: string;
  readonly fields?: LogFields;
}

function logged({ message = 'm', fields = {} }: Given): readonly string[] {
  const lines: string[] = [];
  const logger = createLogger('svc', {
    write: (line) => void lines.push(line),
    filter: parseLogFilter(undefined),
    now: () => new Date(Date.UTC(2020, 0, 2, 3, 4, 5)),
  });
  logger.log('info', message, fields);
  return lines;
}

function onlyRecord(given: Given): ReadonlyMap<string, unknown> {
  const [line, ...rest] = logged(given);
  assert.equal(rest.length, 0);
  return new Map(Object.entries(JSON.parse(line ?? '')));
}

function levelsThrough(filter: string | undefined, target = 'svc'): readonly LogLevel[] {
  const through: LogLevel[] = [];
  for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) {
    const logger = createLogger(target, {
      write: () => void through.push(level),
      filter: parseLogFilter(filter),
    });
    logger.log(level, 'm');
  }
  return through;
}
