// The services that sign their users in at an identity provider.

export const handshakePassword = 'handshake-pw';

/**
 * Settings of each variant by its name, and who signs in there. `audit.log` lies beside the service's other files. A clock
 * skew of 1 s: that a token is over shows within seconds.
 */
export function signInVariants(common, signIn) {
  const { users, clientId, clientSecret, publicClientId, briefClientId } = signIn;
  const shared = {
    ...common,
    'auth.static_tokens_path': signIn.staticTokensPath,
    'auth.clock_skew_secs': 1,
    'metrics.audit_log_path': 'audit.log',
    'coordinator.redis_url': signIn.redisUrl,
  };
  const password = {
    ...shared,
    'auth.idp_url': signIn.url,
    'auth.realm': signIn.realm,
    'auth.client_id': publicClientId,
  };
  return {
    keycloak: {
      settings: {
        ...password,
        'auth.audience': [publicClientId, clientId, briefClientId],
        'auth.max_failures_per_user': 100,
      },
      user: users[0],
    },
    limits: {
      settings: {
        ...password,
        'server.trusted_proxies': ['127.0.0.1'],
        // Longer than the tests take, however slow the machine: failures that are forgotten are not limited.
        'auth.failure_window_secs': 600,
      },
      user: users[0],
    },
    'client credentials': {
      settings: {
        ...shared,
        'auth.token_endpoint': signIn.tokenEndpoint,
        'auth.client_id': clientId,
        'auth.client_secret': clientSecret,
        'auth.handshake_password': handshakePassword,
        'auth.issuer': signIn.realmUrl,
        'auth.audience': [publicClientId],
      },
      user: { username: 'carol', password: handshakePassword },
    },
  };
}

/** What no file of a service and nothing it answers may show. */
export function secretsOf(signIn) {
  return [
    ...signIn.users.map(({ password }) => password),
    ...signIn.staticTokens.map(({ token }) => token),
    signIn.clientSecret,
    handshakePassword,
    decodeURIComponent(new URL(signIn.redisUrl).password),
    'eyJ', // Every JSON web token begins with it.
  ];
}
