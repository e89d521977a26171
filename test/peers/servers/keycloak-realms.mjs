// The realms of the Keycloak that tests run against, in the form of its import files.

export const users = [
  { username: 'alice', password: 'alice-pw', role: 'admin' },
  { username: 'bob', password: 'bob-pw', role: 'analyst' },
];
export const clients = {
  clientId: 'sqlsvc',
  clientSecret: 'sqlsvc-secret',
  publicClientId: 'sqlcli',
  /** Its access tokens are over after `briefSeconds`. */
  briefClientId: 'sqlbrief',
};
export const briefSeconds = 6;
export const shortTokenSeconds = 70;
const longTokenSeconds = 900;
const shortLivedUserCount = 20;

/** Tokens live 15 minutes; alice is an admin, bob an analyst. */
export const realm = realmOf('svc', { accessTokenLifespan: longTokenSeconds }, users);

export const shortLivedUsers = Array.from({ length: shortLivedUserCount }, (_, index) => ({
  username: `user-${index}`,
  password: `user-${index}-pw`,
  role: 'analyst',
}));

/** Tokens live 70 s, and each refresh token is good for one use: two renewals of a session at once show. */
export const shortLivedRealm = realmOf(
  'short',
  { accessTokenLifespan: shortTokenSeconds, revokeRefreshToken: true, refreshTokenMaxReuse: 0 },
  shortLivedUsers,
);

function realmOf(name, settings, people) {
  const grants = { protocol: 'openid-connect', directAccessGrantsEnabled: true, standardFlowEnabled: false };
  return {
    realm: name,
    enabled: true,
    sslRequired: 'none',
    bruteForceProtected: false,
    ...settings,
    roles: { realm: [{ name: 'admin' }, { name: 'analyst' }] },
    clients: [
      {
        ...grants,
        clientId: clients.clientId,
        secret: clients.clientSecret,
        publicClient: false,
        serviceAccountsEnabled: true,
      },
      { ...grants, clientId: clients.publicClientId, publicClient: true },
      {
        ...grants,
        clientId: clients.briefClientId,
        publicClient: true,
        attributes: { 'access.token.lifespan': String(briefSeconds) },
      },
    ],
    users: people.map((person) => userOf(name, person)),
  };
}

/** Keycloak lets nobody in whose profile has gaps. */
function userOf(realmName, { username, password, role }) {
  return {
    username,
    enabled: true,
    emailVerified: true,
    email: `${username}@example.org`,
    firstName: username,
    lastName: 'Example',
    credentials: [{ type: 'password', value: password, temporary: false }],
    realmRoles: [role, `default-roles-${realmName}`],
  };
}
