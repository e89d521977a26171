/** Who may sign in, by the configuration (spec section 5.1). */
import { join } from 'node:path';
import type { Config, Logger, Metrics } from '@svc/base';
import { createBearerOwners } from './bearer-owners.js';
import type { IdentityProvider } from './identity-provider.js';
import { createSignInLimits } from './limits/sign-in-limits.js';
import { createLocalSignIn, localUsername, readOrCreatePassword } from './local-identity.js';
import { type Oidc, openBearers, openClientCredentials, openPasswordGrant } from './oidc/open-oidc.js';
import { createRefusalLog } from './refusal-log.js';
import { createSignInDoor } from './sign-in-door.js';
import { readStaticTokens } from './static-tokens.js';

/** Longer than anybody who types notices, and long enough that a flood of one client is thin. */
const refusalDelayMs = 500;

/** What a person has to know to sign in. */
export type SignInFacts =
  | { readonly kind: 'local'; readonly username: string; readonly passwordPath: string }
  | { readonly kind: 'password'; readonly providerUrl: string }
  | { readonly kind: 'client_credentials'; readonly needsPassword: boolean };

export interface OpenIdentity extends IdentityProvider {
  readonly facts: SignInFacts;
  /** Ends requests to the provider that are under way. Idempotent. */
  close(): void;
}

export interface OpenIdentityOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since 1970, by which tokens expire. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, by which everything else is timed. Default: the process's. */
  readonly elapsed?: () => number;
}

/** Throws CONFIGURATION_ERROR. A provider that is down does not matter before somebody signs in. */
export async function openIdentity(options: OpenIdentityOptions): Promise<OpenIdentity> {
  const { config, metrics, now } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const logger = options.logger.child('svc::identity');
  const staticTokens = await readStaticTokens(config['auth.static_tokens_path']);
  const { facts, checkPassword, accessTokens, close } = await openMode({ config, metrics, now, elapsed });
  if (facts.kind === 'client_credentials') warnOfOpenPort(logger, facts.needsPassword);
  return {
    kind: facts.kind,
    facts,
    ...createSignInDoor({
      checkPassword,
      owners: createBearerOwners(staticTokens, accessTokens),
      limits: createSignInLimits({
        maxFailuresPerUser: config['auth.max_failures_per_user'],
        maxFailuresPerAddress: config['auth.max_failures_per_address'],
        windowMs: config['auth.failure_window_secs'] * 1000,
        elapsed,
        refusalDelayMs,
      }),
      refusals: createRefusalLog(logger, elapsed),
      metrics,
    }),
    close,
  };
}

type ModeOptions = Parameters<typeof openPasswordGrant>[0];

async function openMode(options: ModeOptions): Promise<Oidc & { readonly facts: SignInFacts }> {
  const { config } = options;
  const idpUrl = config['auth.idp_url'];
  const tokenEndpoint = config['auth.token_endpoint'];
  if (idpUrl !== undefined)
    return { ...openPasswordGrant(options, idpUrl), facts: { kind: 'password', providerUrl: idpUrl } };
  if (tokenEndpoint !== undefined) {
    const needsPassword = config['auth.handshake_password'] !== undefined;
    return {
      ...openClientCredentials(options, tokenEndpoint),
      facts: { kind: 'client_credentials', needsPassword },
    };
  }
  return await openLocal(options);
}

async function openLocal(options: ModeOptions): Promise<Oidc & { readonly facts: SignInFacts }> {
  const passwordPath = join(options.config['server.data_dir'], 'local-password');
  return {
    facts: { kind: 'local', username: localUsername, passwordPath },
    checkPassword: createLocalSignIn(await readOrCreatePassword(passwordPath)),
    ...openBearers(options),
  };
}

function warnOfOpenPort(logger: Logger, needsPassword: boolean): void {
  logger.log(
    'warn',
    needsPassword
      ? 'client-credentials mode: whoever knows auth.handshake_password acts as the service principal, under any user name'
      : 'client-credentials mode without auth.handshake_password: WHOEVER REACHES THE PORT acts as the service principal, under any user name; set auth.handshake_password, or let only a trusted network reach the port',
  );
}
