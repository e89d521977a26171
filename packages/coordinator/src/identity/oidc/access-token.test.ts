import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportSPKI, SignJWT } from 'jose';
import { type FaultProvider, newSigningKey, startFaultProvider } from '../../test-support/fault-provider.js';
import { openTestIdentity, originOf, type TestIdentity } from '../../test-support/test-identity.js';

let provider: FaultProvider;
let test: TestIdentity;
before(async () => {
  provider = await startFaultProvider();
  test = await openTestIdentity({ 'auth.idp_url': provider.url, 'auth.client_id': 'svc' });
});
after(async () => {
  test[Symbol.dispose]();
  await provider[Symbol.asyncDispose]();
});

const seconds = (fromNow: number) => Math.floor(test.wall.now() / 1000) + fromNow;
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const ownerOf = (token: string) => test.identity.ownerOf(token, originOf());

/** The parts of a token after a change of one of them. */
async function altered(change: (parts: readonly [string, string, string]) => string): Promise<string> {
  const [header = '', payload = '', signature = ''] = (await provider.sign()).split('.');
  return change([header, payload, signature]);
}

async function signedWithoutExpiry(): Promise<string> {
  const { iss, sub, azp } = { iss: provider.url, sub: 'id-of-ada', azp: 'svc' };
  return await new SignJWT({ iss, sub, azp, typ: 'Bearer' })
    .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
    .sign(provider.key.privateKey);
}

/** HS256 with the text of the public key as the secret: what a verifier that trusts `alg` falls for. */
async function signedWithPublicKey(): Promise<string> {
  const secret = new TextEncoder().encode(await exportSPKI(provider.key.publicKey));
  const claims = { iss: provider.url, sub: 'mallory', azp: 'svc', exp: seconds(300) };
  return await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(secret);
}

async function injected(header: Readonly<Record<string, unknown>>): Promise<string> {
  const own = await newSigningKey('key-1');
  return await provider.sign({ sub: 'mallory' }, { key: own, header: { ...header, jwk: own.jwk } });
}

/** A token that the provider's key has signed over exactly this text. */
async function signedText(payload: string): Promise<string> {
  const input = `${encode({ alg: 'RS256', kid: 'key-1' })}.${encode(payload)}`;
  const algorithm = { name: 'RSASSA-PKCS1-v1_5' };
  const signature = await crypto.subtle.sign(algorithm, provider.key.privateKey, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

const claims = (changes: () => Readonly<Record<string, unknown>>) => () => provider.sign(changes());

/** Issue 5, "Bad input": each is refused with one answer, and none crashes, hangs or costs the provider a call. */
const attacks: readonly (readonly [string, () => Promise<string>])[] = [
  ['alg none', () => altered(([, payload]) => `${encode({ alg: 'none' })}.${payload}.`)],
  ['alg none that keeps a signature', () => altered(([, p, s]) => `${encode({ alg: 'none' })}.${p}.${s}`)],
  ['alg nOnE', () => altered(([, p, s]) => `${encode({ alg: 'nOnE' })}.${p}.${s}`)],
  ['HS256 with the public key as secret', signedWithPublicKey],
  [
    'a key of the attacker under a known kid',
    async () => provider.sign({}, { key: await newSigningKey('key-1') }),
  ],
  ['an unknown kid', async () => provider.sign({}, { key: await newSigningKey('key-of-mallory') })],
  ['a kid that is no text', () => provider.sign({}, { header: { kid: { a: 1 } } })],
  ['a key in its own header (jwk)', () => injected({})],
  ['a key set of the attacker (jku)', () => injected({ jku: 'http://127.0.0.1:1/keys' })],
  ['a certificate of the attacker (x5u)', () => injected({ x5u: 'http://127.0.0.1:1/cert' })],
  [
    'another algorithm of the same key',
    () => provider.sign({}, { header: { alg: 'PS256' } }).catch(() => 'a.b.c'),
  ],
  ['another issuer', claims(() => ({ iss: 'https://elsewhere.example' }))],
  ['an issuer with a slash more', () => provider.sign({ iss: `${provider.url}/` })],
  ['another audience', claims(() => ({ azp: 'other', aud: ['account', 'other'] }))],
  ['no audience', claims(() => ({ azp: undefined, aud: undefined }))],
  ['an audience that is no text', claims(() => ({ azp: ['svc'], aud: { svc: true } }))],
  ['expired', claims(() => ({ exp: seconds(-31) }))],
  ['nbf in the future', claims(() => ({ nbf: seconds(40) }))],
  ['no exp', signedWithoutExpiry],
  ['exp that is a text', claims(() => ({ exp: '99999999999' }))],
  ['no sub', claims(() => ({ sub: undefined }))],
  ['an empty sub', claims(() => ({ sub: '' }))],
  ['a user name with a line feed', claims(() => ({ preferred_username: 'ada\nroot' }))],
  ['a user name that is a list', claims(() => ({ preferred_username: ['root'] }))],
  ['100 kB', claims(() => ({ filler: 'x'.repeat(75_000) }))],
  ['truncated', () => altered(([h, p, s]) => `${h}.${p}.${s.slice(0, -8)}`)],
  ['without signature', () => altered(([h, p]) => `${h}.${p}.`)],
  ['two parts', () => altered(([h, p]) => `${h}.${p}`)],
  ['swapped parts', () => altered(([h, p, s]) => `${p}.${h}.${s}`)],
  ['extra dots', () => altered(([h, p, s]) => `${h}.${p}.${s}.${s}`)],
  ['nothing but dots', async () => '..'],
  [
    'a payload of another token',
    async () => {
      const [, other = ''] = (await provider.sign({ sub: 'root' })).split('.');
      return await altered(([h, , s]) => `${h}.${other}.${s}`);
    },
  ],
  [
    'a header with alg twice',
    () => altered(([, p, s]) => `${encode('{"alg":"RS256","alg":"none","kid":"key-1"}')}.${p}.${s}`),
  ],
  [
    'a signed issuer twice, the wrong one last',
    () =>
      signedText(
        `{"iss":"${provider.url}","iss":"https://elsewhere.example","sub":"a","azp":"svc","exp":${seconds(99)}}`,
      ),
  ],
  ['a payload that is no object', () => signedText('[1]')],
  ['a payload that is no JSON', () => signedText('{"iss":')],
  [
    'a crit header',
    () => provider.sign({}, { header: { crit: ['unknown'], unknown: 1 } }).catch(() => 'a.b.c'),
  ],
  ['an ID token of Keycloak', claims(() => ({ typ: 'ID', aud: 'svc' }))],
  ['an ID token with at_hash', claims(() => ({ typ: undefined, aud: 'svc', at_hash: 'x' }))],
  ['a refresh token', claims(() => ({ typ: 'Refresh' }))],
  ['an offline token', claims(() => ({ typ: 'Offline' }))],
  ['a logout token', () => provider.sign({ typ: undefined }, { header: { typ: 'logout+jwt' } })],
  ['a token bound to its sender', claims(() => ({ cnf: { jkt: 'x' } }))],
  ['garbage', async () => 'garbage'],
  ['no text at all', async () => ''],
];

describe('as an access token (spec 5.8, 5.9)', () => {
  for (const [name, make] of attacks) {
    it(`${name} is refused`, async () => {
      const token = await make();
      await assert.rejects(ownerOf(token), {
        code: 'UNAUTHENTICATED',
        message: 'The bearer token is not valid here: sign in again.',
      });
      assert.equal(
        test.logLines.some((line) => token.length > 8 && line.includes(token)),
        false,
      );
    });
  }

  it('none of them made the provider be asked more than once for each document', () => {
    assert.deepEqual(provider.documents, { discovery: 1, keys: 1 });
  });
});

describe('an access token that is right', () => {
  it('is owned by its subject, with the roles of realm_access (spec 5.3, 2.1)', async () => {
    const token = await provider.sign({ realm_access: { roles: ['analyst', 'admin', 7, ''] } });
    const owner = await ownerOf(token);
    assert.deepEqual(owner.identity, { username: 'ada', roles: ['analyst', 'admin'] });
    assert.deepEqual([owner.issuer, owner.subject], [provider.url, 'id-of-ada']);
    assert.equal(owner.tokens?.accessToken, token);
    assert.equal(owner.renew, undefined);
  });

  it('is taken by aud or azp, with typ at+jwt too, and within the skew of clocks', async () => {
    await ownerOf(await provider.sign({ aud: ['account', 'svc'], azp: 'other' }));
    await ownerOf(await provider.sign({ typ: undefined }, { header: { typ: 'at+jwt' } }));
    await ownerOf(await provider.sign({ typ: undefined }, { header: { typ: 'application/at+jwt' } }));
    await ownerOf(await provider.sign({ exp: seconds(-20), nbf: seconds(20) }));
  });

  it('without a user name is named by its subject, and has no roles where they have another form', async () => {
    for (const realm_access of [undefined, 'admin', { roles: 'admin' }, ['admin'], null]) {
      const owner = await ownerOf(await provider.sign({ preferred_username: undefined, realm_access }));
      assert.deepEqual(owner.identity, { username: 'id-of-ada', roles: [] });
    }
  });

  it('that says a claim twice means the last, as JSON does', async () => {
    const text = `{"sub":"x","sub":"y","iss":"${provider.url}","azp":"svc","exp":${seconds(99)}}`;
    assert.equal((await ownerOf(await signedText(text))).subject, 'y');
  });

  it('brought by many calls at once is verified once', async () => {
    const token = await provider.sign({ jti: 'for many' });
    const owners = await Promise.all(Array.from({ length: 100 }, () => ownerOf(token)));
    assert.equal(new Set(owners).size, 1);
  });

  it('lives as long as it says, by the clock of the wall, wherever that is set', async () => {
    const exp = seconds(300);
    const token = await provider.sign({ exp });
    test.wall.advance(-3_600_000);
    const { tokens } = await ownerOf(token);
    assert.equal(tokens?.expiresAtMs, (exp + 30) * 1000);
    test.wall.advance(3_600_000 + 400_000);
    await assert.rejects(ownerOf(token), { code: 'UNAUTHENTICATED' });
    test.wall.advance(-400_000);
    await ownerOf(token);
  });
});
