/** The limits on wrong passwords, whatever checks them: the identity provider, or this process. */
import { abortable, delay, QueryError } from '@svc/base';
import type { SignInOrigin } from '../identity-provider.js';
import { AttemptLimit } from './attempt-limit.js';
import { addressKey, userKey } from './limit-keys.js';

export interface SignInLimitsOptions {
  readonly maxFailuresPerUser: number;
  readonly maxFailuresPerAddress: number;
  readonly windowMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** How long who is refused waits for the answer. */
  readonly refusalDelayMs: number;
}

export interface SignInLimits {
  /**
   * Runs an attempt once there is a place for it, and counts it when it throws UNAUTHENTICATED. It runs to its end also
   * when its client goes away: who hangs up before the answer has tried a password nevertheless. Throws SIGN_IN_LIMITED.
   */
  attempt<T>(username: string, origin: SignInOrigin, work: () => Promise<T>): Promise<T>;
}

const maxKeys = 50_000;
/**
 * A provider spends a tenth of a second of CPU on each password: a hundred at once would keep it from answering anybody in
 * time, and open the circuit breaker for all.
 */
const maxInFlightPerUser = 2;
const maxInFlightPerAddress = 4;
const maxWaiting = 10_000;
/** Refusals that may be held back at once; further ones are answered at once. */
const maxHeldBack = 1000;

/** Per user and address, so that nobody can lock out a user from elsewhere; and per address over all users. */
export function createSignInLimits(options: SignInLimitsOptions): SignInLimits {
  const shared = { windowMs: options.windowMs, maxKeys, maxWaiting, elapsed: options.elapsed };
  const perUser = new AttemptLimit({
    ...shared,
    maxFailures: options.maxFailuresPerUser,
    maxInFlight: maxInFlightPerUser,
  });
  const perAddress = new AttemptLimit({
    ...shared,
    maxFailures: options.maxFailuresPerAddress,
    maxInFlight: maxInFlightPerAddress,
  });

  let heldBack = 0;
  /** A refusal costs little, but as many as a client can send would take the processor from those who sign in rightly. */
  async function holdBack(error: unknown, signal: AbortSignal): Promise<void> {
    const isRefusal = error instanceof QueryError && error.code === 'SIGN_IN_LIMITED';
    if (!isRefusal || heldBack >= maxHeldBack) return;
    heldBack += 1;
    try {
      await delay(options.refusalDelayMs, signal);
    } finally {
      heldBack -= 1;
    }
  }

  async function enterBoth(username: string, { clientAddress, signal }: SignInOrigin) {
    const address = addressKey(clientAddress);
    const user = await perUser.enter(`${userKey(username)} ${address}`, signal);
    try {
      return [user, await perAddress.enter(address, signal)];
    } catch (error) {
      user.settle('other');
      throw error;
    }
  }

  return {
    async attempt(username, origin, work) {
      const places = await enterBoth(username, origin).catch(async (error: unknown) => {
        await holdBack(error, origin.signal);
        throw error;
      });
      const settle = (outcome: 'wrong' | 'other') => {
        for (const place of places) place.settle(outcome);
      };
      const attempt = work();
      attempt.then(
        () => settle('other'),
        (error: unknown) => settle(isWrong(error) ? 'wrong' : 'other'),
      );
      return await abortable(attempt, origin.signal);
    },
  };
}

function isWrong(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'UNAUTHENTICATED';
}
