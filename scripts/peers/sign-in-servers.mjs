// What signing in is tested with: Keycloak behind a proxy that counts what it is asked, Redis, static tokens.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startIdentityProxy } from '../../test/peers/servers/identity-proxy.mjs';
import { startKeycloak } from '../../test/peers/servers/keycloak.mjs';
import { startRedis } from '../../test/peers/servers/redis.mjs';

/**
 * Answers what the service and the client programs are told of them, and `stop()`: Keycloak as `keycloak` answers it with the
 * proxy's `url`, `tokenEndpoint`, `redisUrl`, `staticTokens` with a bearer for a user of each role and `staticTokensPath`.
 */
export async function startSignInServers(folder) {
  mkdirSync(folder);
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  const started = async (server) => {
    stops.push(() => server.stop());
    return server;
  };
  try {
    const [{ stop: _keycloak, ...keycloak }, redis] = await Promise.all([
      startKeycloak(path.join(folder, 'keycloak')).then(started),
      startRedis(path.join(folder, 'redis'), { password: 'redis-pw' }).then(started),
    ]);
    const proxy = await started(await startIdentityProxy(keycloak.url));
    const realmUrl = `${proxy.url}/realms/${keycloak.realm}`;
    return {
      ...keycloak,
      url: proxy.url,
      realmUrl,
      tokenEndpoint: `${realmUrl}/protocol/openid-connect/token`,
      redisUrl: redis.url,
      ...writeStaticTokens(folder, keycloak.users),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One for a program of each user's role. */
function writeStaticTokens(folder, users) {
  const staticTokens = users.map(({ username, role }) => ({
    username: `${username}-program`,
    role,
    token: randomBytes(32).toString('base64url'),
  }));
  const staticTokensPath = path.join(folder, 'static-tokens.toml');
  writeFileSync(
    staticTokensPath,
    staticTokens
      .map(
        ({ username, role, token }) => `[[token]]
username = "${username}"
roles = ["${role}"]
sha256 = "${createHash('sha256').update(token).digest('hex')}"
`,
      )
      .join('\n'),
  );
  return { staticTokens, staticTokensPath };
}
