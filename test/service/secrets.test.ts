/** Secrets at every door, right and wrong ones, and a look through everything that the service says. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '@svc/base';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.js';
import { rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';

const marked = {
  password: 'marked.password.of.ada',
  wrongPassword: 'marked.password.that.is.wrong',
  passwordAsName: 'marked.password.as.a.name',
  staticToken: 'marked.static.token',
  wrongToken: 'marked.token.that.nobody.has',
  ownBearer: `marked-${'bearer'.repeat(6)}`,
  twoWords: 'marked.first.word marked.second.word',
  control: 'marked.with\u0001control',
  urlPassword: 'marked.password.of.a.url',
  redisPassword: 'marked.password.of.redis',
  queryToken: 'marked.token.in.a.query',
  handshakePassword: 'marked.password.of.the.handshake',
  s3Key: 'marked.key.of.a.store',
};

describe('secrets of clients and of the configuration', () => {
  let provider: OidcProvider;
  let service: TestService;
  let folder: string;
  let bearer: string;
  let tokens: { readonly access_token: string; readonly refresh_token: string };
  /** What clients were told. */
  const told: string[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-secrets-'));
    const tokensPath = join(folder, 'tokens.toml');
    const digest = createHash('sha256').update(marked.staticToken).digest('hex');
    await writeFile(tokensPath, `[[token]]\nusername = "robot"\nroles = ["admin"]\nsha256 = "${digest}"\n`);
    provider = await startOidcProvider({ users: { ada: { password: marked.password, roles: ['admin'] } } });
    service = await startService({
      config: {
        'auth.idp_url': provider.url,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
        'auth.static_tokens_path': tokensPath,
        'coordinator.redis_url': `redis://:${marked.redisPassword}@127.0.0.1:1`,
        'storage.s3_access_key': marked.s3Key,
        'storage.s3_secret_key': marked.s3Key,
        'metrics.audit_log_path': join(folder, 'audit.jsonl'),
      },
    });
    tokens = await provider.tokensOf('ada');
    const client = service.stranger();
    bearer = await client.signIn('ada', marked.password);
    await rows(client, 'SELECT 1');
    await knockAtFlight();
    await knockAtAdmin();
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** All that may be told to nobody, in every form in which it travels. */
  function secrets(): readonly string[] {
    const { access_token: access, refresh_token: refresh } = tokens;
    const basics = [`ada:${marked.password}`, `ada:${marked.wrongPassword}`].map((text) =>
      Buffer.from(text).toString('base64'),
    );
    const signature = access.split('.')[2] ?? '';
    const plain = [...Object.values(marked), ...marked.twoWords.split(' '), provider.clientSecret];
    const all = [...plain, ...basics, bearer, access, signature, refresh];
    return [...all, ...all.map(encodeURIComponent), 'marked.'];
  }

  async function tell(call: Promise<unknown>): Promise<void> {
    const answer = await call.catch((error: unknown) => error);
    if (answer instanceof Error) told.push(`${answer.message} ${String(answer.cause)}`);
  }

  async function knockAtFlight(): Promise<void> {
    for (const [username, password] of [
      ['ada', marked.wrongPassword],
      ['nobody', marked.wrongPassword],
      [marked.passwordAsName, 'x'],
      ['ada', marked.control],
    ] as const)
      await tell(service.stranger().signIn(username, password));
    const basic = (password: string) => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
    for (const authorization of [
      basic(marked.password),
      basic(marked.wrongPassword),
      `Bearer ${bearer}`,
      `Bearer ${bearer}x`,
      `Bearer ${marked.ownBearer}`,
      `Bearer ${marked.wrongToken}`,
      `Bearer ${marked.staticToken}`,
      `Bearer ${marked.twoWords}`,
      `Bearer  ${marked.wrongToken} `,
      `Basic ${marked.wrongToken}`,
      `Digest ${marked.wrongToken}`,
      marked.wrongToken,
      `Bearer ${tokens.access_token}`,
      `Bearer ${tokens.access_token.slice(0, -9)}`,
      `Bearer ${tokens.refresh_token}`,
    ]) {
      const credential = authorization.split(' ').at(-1) ?? '';
      const correlated = { 'x-session-id': credential, 'x-request-id': credential };
      for (const headers of [{ authorization }, { authorization, ...correlated }]) {
        const client = service.stranger();
        await tell(client.planStatement('SELECT 1', { headers }));
        await tell(client.planStatement('SELECT * FROM nothing', { headers }));
        await tell(client.planStatement('EXPLAIN SELECT 1', { headers }));
      }
    }
    for (const name of ['auth-token-bin', 'cookie', 'proxy-authorization', 'x-api-key', 'traceparent'])
      await tell(service.stranger().planStatement('SELECT 1', { headers: { [name]: marked.wrongToken } }));
  }

  async function knockAtAdmin(): Promise<void> {
    const url = `${service.healthUrl}/api/v1/catalogs/refresh`;
    const statuses: number[] = [];
    const post = async (authorization: string, query = '', body?: string) => {
      const headers = {
        authorization,
        'content-type': 'application/json',
        'x-session-id': authorization.slice('Bearer '.length).slice(0, 128),
      };
      const response = await fetch(`${url}${query}`, { method: 'POST', headers, ...(body && { body }) });
      told.push(await response.text(), JSON.stringify([...response.headers]));
      statuses.push(response.status);
    };
    for (const token of [bearer, tokens.access_token, marked.staticToken]) await post(`Bearer ${token}`);
    assert.deepEqual(statuses, [200, 200, 200]);
    for (const token of [`${bearer}x`, marked.wrongToken, marked.twoWords, tokens.access_token.slice(0, -9)])
      await post(`Bearer ${token}`);
    await post(`Basic ${Buffer.from(`ada:${marked.password}`).toString('base64')}`);
    await post('', `?access_token=${marked.queryToken}&password=${marked.password}`);
    await post(`Bearer ${bearer}`, `?token=${marked.queryToken}`, '{"user');
    for (const path of [`/${marked.queryToken}?a=${marked.queryToken}`, `/metrics?x=${marked.queryToken}`])
      told.push(
        (await (await fetch(`${service.healthUrl}${path}`)).text()).replaceAll(marked.queryToken, ''),
      );
  }

  function assertSilent(text: string, where: string): void {
    for (const secret of secrets()) assert.equal(text.includes(secret), false, `${where}: ${secret}`);
  }

  it('are in no record of the log, at its finest level', () => {
    const records = service.logLines.filter((line) => !line.includes(`"path":"/${marked.queryToken}"`));
    assert.ok(records.length > 20);
    assertSilent(records.join(''), 'log');
  });

  it('are in no answer to a client', () => {
    assert.ok(told.length > 60);
    assertSilent(told.join('\n'), 'answers');
  });

  it('are in neither metrics nor status', async () => {
    for (const url of [service.metricsUrl, `${service.healthUrl}/api/v1/status`])
      assertSilent(await (await fetch(url)).text(), url);
  });

  it('are not in the audit log', async () => {
    const text = await readFile(join(folder, 'audit.jsonl'), 'utf8');
    assert.ok(text.includes('"username":"robot"') && text.includes('"username":"ada"'));
    assertSilent(text, 'audit log');
  });

  it('are neither arguments nor variables of engine processes', async (context) => {
    const hosts = await childProcesses();
    if (hosts === undefined) return context.skip('This system has no /proc.');
    assert.ok(hosts.length > 0);
    for (const host of hosts) {
      assertSilent(host, 'engine process');
      assert.doesNotMatch(host, /SVC_|AUTH/);
    }
  });

  it('are in no message about a configuration that is not right', () => {
    for (const variables of [
      { SVC_AUTH__IDP_URL: `https://user:${marked.urlPassword}@idp.example` },
      { SVC_AUTH__TOKEN_ENDPOINT: `ftp://idp.example/?secret=${marked.urlPassword}` },
      { SVC_COORDINATOR__REDIS_URL: `redis://:${marked.redisPassword}@` },
      { SVC_AUTH__CLIENT_SECRETS: marked.password },
      { SVC_AUTH__HANDSHAKE_PASSWORD: marked.handshakePassword, SVC_AUTH__IDP_URL: provider.url },
      { SVC_STORAGE__S3_SECRET_KEY: marked.s3Key },
    ])
      assert.throws(
        () => loadConfig({ environment: variables }),
        (error: Error) => {
          assertSilent(`${error.message} ${String(error.cause)}`, 'configuration');
          return true;
        },
      );
  });

  it('spec 5.7: the record of a refused sign-in has the ids of its caller, and no credential', async () => {
    const headers = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-request-id': 'refused-7',
    };
    // The log holds back after so many refusals: a service of its own would be as good as waiting.
    await using other = await startService();
    await assert.rejects(other.stranger().signIn('local', marked.wrongPassword, { headers }));
    const record = other.logRecords().find(({ message }) => message.includes('refused'));
    assert.deepEqual(
      [record?.request_id, record?.trace_id],
      ['refused-7', '0af7651916cd43dd8448eb211c80319c'],
    );
    assertSilent(other.logLines.join(''), 'log');
  });
});

/** Arguments and variables of this process's children; undefined where the system does not say. */
async function childProcesses(): Promise<readonly string[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  const found: string[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const of = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const stat = await of('stat');
    const parent = stat.slice(stat.lastIndexOf(')') + 1).split(' ')[2];
    if (parent === String(process.pid)) found.push((await of('cmdline')) + (await of('environ')));
  }
  return found;
}
