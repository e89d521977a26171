/** Documents as nobody should write them: each is read as it stands, or refused by an error that says which and where. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { QueryError } from '@svc/base';
import { createFilePlace } from './file-place.js';
import { maxDocumentBytes, printRuleDocument, type Rules, readRuleDocument } from './rule-document.js';
import { openRuleStore } from './rule-store.js';
import { parseRuleJson, parseRuleToml } from './rule-text.js';
import { openRulesFile } from './rules-file.js';

const source = '/etc/svc/rules.toml';
const catalogs = ['lake', 'other "lake"'];
/** Stands in expressions, which messages never quote. */
const hidden = 'hidden word';

const toml = `version = 1
# Who may see what.
[[policies]]
name = "eu only"
catalog = "lake"
schema = "sales"
table = "orders"
row_filter = "region = '${hidden}' AND (id IN (1, 2) OR note LIKE 'a%')"
to = ["analyst", "Ärztin", "e\\u0301", "\\u00e9"]
except = ["boss"]

[[policies]]
name = 'ssn'
schema = "people"
column = "ssn"
mask = "'${hidden}' || right(ssn, 4) -- the end"
to = ["PUBLIC"]

[[grants]]
schema = "sales"
privileges = ["SELECT", "INSERT"]
to = ["analyst", "data science"]
`;

function read(bytes: Uint8Array, parse: typeof parseRuleJson): Rules {
  return readRuleDocument(parse(bytes, source), { source, origin: 'rules-file', catalogs });
}
const readToml = (text: string | Uint8Array): Rules => read(Buffer.from(text), parseRuleToml);
const readJson = (text: string | Uint8Array): Rules => read(Buffer.from(text), parseRuleJson);
const json = printRuleDocument(readToml(toml));

/** A coded error that names the document, is short, and quotes no expression. */
function assertTold(error: unknown, says: RegExp = /./): true {
  assert.ok(error instanceof QueryError, String(error));
  assert.equal(error.code, 'CONFIGURATION_ERROR');
  assert.ok(error.message.includes(source), error.message);
  assert.ok(error.message.length < 1000 && !error.message.includes(hidden), error.message);
  assert.doesNotMatch(error.message, /\p{Cc}/u);
  assert.match(error.message, says);
  return true;
}

const refused = (act: () => unknown, says?: RegExp): void =>
  assert.throws(act, (error) => assertTold(error, says));

describe('a document', () => {
  test('may begin with a mark of the byte order, end its lines as elsewhere, and have names of any script', () => {
    const rules = readToml(toml);
    assert.deepEqual(readToml(`\ufeff${toml}`), rules);
    assert.deepEqual(readToml(toml.replaceAll('\n', '\r\n')), rules);
    assert.deepEqual(readJson(`\ufeff${json.replaceAll('\n', '\r\n')}`), rules);
    // Two spellings of one letter are two roles: the provider's are compared as they are.
    assert.deepEqual(rules.policies[0]?.roles, ['analyst', 'Ärztin', 'e\u0301', '\u00e9']);
  });

  test('keeps names with quotes, dots, backslashes and line ends as they are', () => {
    const strange = [
      'or"ders',
      "o'brien",
      'a.b',
      'back\\slash',
      'two\nlines',
      ' blank ',
      '😀',
      '\u202eright',
      '{}[]:,"',
    ];
    const rules = readJson(
      JSON.stringify({
        version: 1,
        policies: strange.map((name) => ({
          ...{ name, catalog: 'other "lake"', schema: name, table: name, column: name, mask: 'NULL' },
          ...{ to: [name], except: [`not ${name}`] },
        })),
      }),
    );
    assert.deepEqual(
      rules.policies.map(({ name, target }) => [name, target.schema, target.table]),
      strange.map((name) => [name, name, name]),
    );
    assert.deepEqual(readJson(printRuleDocument(rules)), rules);
  });

  test('that is no text, or no document, is refused', () => {
    const bytes: readonly Uint8Array[] = [
      Buffer.from('version = 1\n[[grants]]\nschema = "caf\xe9"\n', 'latin1'),
      Buffer.from(toml, 'utf16le'),
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]),
      Buffer.alloc(4096),
      Buffer.from([0xff, 0xfe]),
    ];
    for (const each of bytes) {
      refused(() => readToml(each));
      refused(() => readJson(each));
    }
    refused(() => readToml(bytes[0] ?? ''), /UTF-8/);
    for (const text of ['', ' ', 'null', '[]', '1', '"version"', '{"version":null}', '{}'])
      refused(() => readJson(text));
    for (const text of ['', 'version', 'version = "1"', 'version = 1.5', 'version = 1979-05-27'])
      refused(() => readToml(text));
  });

  test('that says a thing twice is refused, with its place', () => {
    refused(() => readToml(toml.replace("'ssn'", "'EU Only'")), /two policies "EU Only"/);
    refused(() => readToml(toml.replace('schema = "sales"', 'schema = "sales"\nschema = "x"')), /:\d+:\d+/);
    refused(
      () => readJson(json.replace('"grants": [', '"policies": [], "grants": [')),
      /"policies" is there twice/,
    );
    refused(
      () => readJson(json.replace('"to"', '"except": ["a\\u0062"], "\\u0074o": ["x"], "to"')),
      /line \d+: the key "to"/,
    );
  });

  test('with a key that nobody knows is refused', () => {
    for (const key of [
      'row-filter',
      'Schema',
      '__proto__',
      'constructor',
      'toString',
      'x'.repeat(5000),
      'a\u001b[2J',
    ]) {
      const quoted = JSON.stringify(key);
      refused(() => readToml(`${quoted} = 1\n${toml}`), /there is no key/);
      refused(() => readToml(`${toml}${quoted} = 1\n`), /grants\[0\]: there is no key/);
      refused(
        () => readJson(json.replace('"name"', `${quoted}: {}, "name"`)),
        /policies\[0\] \("eu only"\): there is no key/,
      );
    }
  });

  test('that is deep or large is refused without harm', () => {
    const deep = 100_000;
    for (const text of [
      '['.repeat(deep),
      '['.repeat(deep) + ']'.repeat(deep),
      '{"a":'.repeat(deep),
      `{"version":1,"policies":[${'{"name":'.repeat(deep)}1${'}'.repeat(deep)}]}`,
    ])
      refused(() => readJson(text));
    for (const text of [
      `a = ${'['.repeat(deep)}${']'.repeat(deep)}`,
      `a = ${'{b = '.repeat(deep)}1${'}'.repeat(deep)}`,
      `${'a.'.repeat(deep)}a = 1`,
      `[${'a.'.repeat(deep)}a]`,
    ])
      refused(() => readToml(text));
    const long = 'n'.repeat(2 ** 21);
    refused(() => readToml(`${toml}[[grants]]\nschema = "s"\ncatalog = "${long}"\n`), /n…" *, but/);
    refused(() => readToml(`${toml.replaceAll(/name = .*/g, `name = "${long}"`)}`), /two policies/);
    const filter = (text: string) => toml.replace(/row_filter = .*/, `row_filter = "${text}"`);
    refused(
      () => readToml(filter('a OR '.repeat(7000))),
      /policies\[0\] \("eu only"\): `row_filter` has more/,
    );
    refused(() => readToml(filter('('.repeat(30_000))), /is not one expression/);
  });

  test('changed anywhere by a seed is read, or refused by its name', () => {
    const random = randomFrom(8);
    let readCount = 0;
    for (let round = 0; round < 4000; round++) {
      const isToml = round % 2 === 0;
      const bytes = changed(Buffer.from(isToml ? toml : json), random);
      try {
        const rules = isToml ? readToml(bytes) : readJson(bytes);
        readCount++;
        // What was read can be kept, and is the same then.
        const { policies, grants } = readJson(printRuleDocument(rules));
        assert.deepEqual({ policies, grants }, rules, `round ${round}`);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        const { message } = error as Error;
        assert.ok(
          error instanceof QueryError && error.code === 'CONFIGURATION_ERROR',
          `round ${round}: ${message}`,
        );
        assert.ok(message.includes(source) && message.length < 1000, `round ${round}: ${message}`);
      }
    }
    assert.ok(readCount > 100 && readCount < 3900, `${readCount} of 4000 were read`);
  });
});

describe('a path', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-rule-paths-'));
  });
  after(async () => await rm(folder, { recursive: true, force: true }));

  test('that is no file of rules is refused by its name', async () => {
    const paths = ['folder', 'loop', 'large', 'file/below'].map((name) => join(folder, name));
    const [directory = '', loop = '', large = ''] = paths;
    await mkdir(directory);
    await symlink(loop, loop);
    await writeFile(large, '');
    await truncate(large, maxDocumentBytes + 1);
    await writeFile(join(folder, 'file'), '');
    for (const path of paths) {
      const told = (error: unknown): boolean =>
        error instanceof QueryError && error.code === 'CONFIGURATION_ERROR' && error.message.includes(path);
      await assert.rejects(openRulesFile(path, { catalogs }), told, path);
      const { signal } = new AbortController();
      await assert.rejects(openRuleStore(createFilePlace(path), { catalogs }, signal), told, path);
    }
  });
});

/** A few bytes more, less or other ones, or a piece of the document in another place. */
function changed(bytes: Buffer, random: () => number): Buffer {
  const pieces = [
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '\\',
    '\n',
    '\0',
    '[[policies]]\n',
    '"to"',
    ',',
    ' = ',
    '\ufeff',
    '\u00ff',
  ];
  let result = bytes;
  for (let change = 0; change <= random() * 3; change++) {
    const at = Math.floor(random() * result.length);
    const length = Math.floor(random() ** 4 * 60);
    const [head, tail] = [result.subarray(0, at), result.subarray(at)];
    const kind = Math.floor(random() * 4);
    if (kind === 0) result = Buffer.concat([head, tail.subarray(length)]);
    else if (kind === 1) {
      const piece = pieces[Math.floor(random() * pieces.length)] ?? '';
      result = Buffer.concat([head, Buffer.from(piece), tail]);
    } else if (kind === 2) {
      const from = Math.floor(random() * bytes.length);
      result = Buffer.concat([head, bytes.subarray(from, from + length), tail]);
    } else result = Buffer.concat([head, Buffer.from([Math.floor(random() * 256)]), tail.subarray(1)]);
  }
  return result;
}

/** Park–Miller, in (0, 1). */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
