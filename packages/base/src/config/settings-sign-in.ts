import { atMost, type DefaultInputs, optional, setting } from './setting.js';
import { boolean, integer, list, oneOf, path, seconds, secretString, string, url } from './value-types.js';

const sessionAge = seconds(10);

/** Never `none`, and never one with a shared secret: a public key would then be its secret. */
const publicKeyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

function defaultAudience({ given }: DefaultInputs): readonly string[] {
  const clientId = given('auth.client_id');
  return typeof clientId === 'string' ? [clientId] : [];
}

/** Who may sign in, by what, and for how long. */
export const signInSettings = {
  'session.idle_timeout_secs': setting(
    sessionAge,
    atMost(sessionAge, 28_800, 'session.max_age_secs'),
    'A session without a call for this long is closed.',
  ),
  'session.max_age_secs': setting(sessionAge, 86_400, 'A session is closed at this age, however busy.'),
  'session.max_per_user': setting(
    integer(1, 100_000),
    256,
    'Open sessions that one user may hold; the least recently used one ends when there would be more.',
  ),
  'session.max_total': setting(
    integer(1, 1_000_000),
    20_000,
    'Open sessions of all users; further sign-ins are refused until one ends.',
  ),
  'session.handle_ttl_secs': setting(
    seconds(10),
    3600,
    'Unused prepared statements and tickets expire after this time.',
  ),

  'auth.idp_url': optional(
    url,
    'Base URL of the identity provider; when set, clients sign in with the password grant.',
  ),
  'auth.realm': optional(
    string,
    'Realm name at the identity provider; not set: `auth.idp_url` is itself the issuer.',
  ),
  'auth.client_id': optional(string, 'OIDC client id.'),
  'auth.client_secret': optional(
    secretString,
    'Client secret: required in the client-credentials mode, and where the client of the password grant has one.',
    { secret: true },
  ),
  'auth.token_endpoint': optional(
    url,
    'Token endpoint URL; used when `auth.idp_url` is empty, and selects the client-credentials mode.',
  ),
  'auth.handshake_password': optional(
    secretString,
    'Password that every user gives in the client-credentials mode; not set: any password is right.',
    { secret: true },
  ),
  'auth.issuer': optional(
    url,
    'Issuer whose access tokens are taken as bearers, as its discovery document and its tokens name it; not set: `auth.idp_url` with `auth.realm`, or none where that is not set.',
  ),
  'auth.audience': setting(
    list(string),
    { text: '`auth.client_id`', compute: defaultAudience },
    'Values of which an access token must have one in `aud` or as `azp`; none: no access token is taken as a bearer.',
  ),
  'auth.algorithms': setting(
    list(oneOf(...publicKeyAlgorithms)),
    publicKeyAlgorithms,
    'Signature algorithms that access tokens may have.',
  ),
  'auth.clock_skew_secs': setting(
    seconds(0, 300),
    30,
    'By how much the clocks of the identity provider and of this machine may differ.',
  ),
  'auth.username_claim': setting(
    string,
    'preferred_username',
    'Claim of an access token that names the user, also after a sign-in by password; where a token has none, `sub` does.',
  ),
  'auth.admin_role': setting(
    string,
    'admin',
    'Role that the admin endpoint, the dashboard and its read API ask for.',
  ),
  'auth.static_tokens_path': optional(
    path,
    'TOML file with bearers for programs: `[[token]]` with `username`, `roles` and the `sha256` of the token.',
  ),
  'auth.allow_http': setting(
    boolean,
    false,
    'Whether the identity provider may be called without TLS at an address that is not loopback.',
  ),
  'auth.idp_timeout_secs': setting(
    seconds(0.1, 60),
    5,
    'Time that one request to the identity provider may take.',
  ),
  'auth.max_failures_per_user': setting(
    integer(1, 100_000),
    10,
    'Wrong passwords for one user from one address within `auth.failure_window_secs`; further attempts are refused unseen.',
  ),
  'auth.max_failures_per_address': setting(
    integer(1, 1_000_000),
    100,
    'Wrong passwords from one address for any users within `auth.failure_window_secs`; further attempts are refused unseen.',
  ),
  'auth.failure_window_secs': setting(
    seconds(1, 86_400),
    60,
    'Time after which a wrong password is forgotten.',
  ),
} as const;
