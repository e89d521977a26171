/** What every sign-in passes, whatever checks it: bounds, limits, metrics, and a log that floods do not fill. */
import { type Metrics, QueryError } from '@svc/base';
import type { BearerOwners } from './bearer-owners.js';
import { type IdentityProvider, type SignedIn, wrongCredentials } from './identity-provider.js';
import type { SignInLimits } from './limits/sign-in-limits.js';
import type { RefusalLog } from './refusal-log.js';
import { isUserName } from './user-name.js';

/** Checks a user name and a password. Throws UNAUTHENTICATED, IDENTITY_PROVIDER_UNAVAILABLE. */
export type CheckPassword = (username: string, password: string) => Promise<SignedIn>;

export interface SignInDoorOptions {
  readonly checkPassword: CheckPassword;
  readonly owners: BearerOwners;
  readonly limits: SignInLimits;
  readonly refusals: RefusalLog;
  readonly metrics: Pick<Metrics, 'signIns'>;
}

const maxPasswordLength = 4096;

export function createSignInDoor(options: SignInDoorOptions): Pick<IdentityProvider, 'signIn' | 'ownerOf'> {
  const { checkPassword, owners, limits, refusals, metrics } = options;
  return {
    async signIn(username, password, origin) {
      try {
        if (!isUserName(username) || password.length > maxPasswordLength)
          throw wrongCredentials(new Error('The user name or the password is none that anybody has.'));
        const signedIn = await limits.attempt(username, origin, () => checkPassword(username, password));
        metrics.signIns.inc({ outcome: 'ok' });
        return signedIn;
      } catch (caught) {
        const error = QueryError.from(caught);
        metrics.signIns.inc({ outcome: outcomeOf(error) });
        if (error.code !== 'CANCELLED') refusals.record('sign-in', error, origin.clientAddress);
        throw error;
      }
    },
    async ownerOf(bearer, origin) {
      try {
        return await owners.ownerOf(bearer, origin);
      } catch (caught) {
        const error = QueryError.from(caught);
        if (error.code !== 'CANCELLED') refusals.record('bearer', error, origin.clientAddress);
        throw error;
      }
    },
  };
}

function outcomeOf({ code }: QueryError) {
  switch (code) {
    case 'UNAUTHENTICATED':
      return 'wrong';
    case 'SIGN_IN_LIMITED':
      return 'limited';
    case 'IDENTITY_PROVIDER_UNAVAILABLE':
      return 'unavailable';
    default:
      return 'failed';
  }
}
