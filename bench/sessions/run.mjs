// Looking up, opening and closing one session among 10,000, in this process. See ../README.md.
import { hash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SessionStore } from '@svc/coordinator';

const sessionCount = 10_000;
const userCount = 500;
const lookUps = 200_000;
const rounds = 7;
const day = 86_400_000;

/** About as many bytes as those of Keycloak. */
const tokens = () => ({
  accessToken: randomBytes(750).toString('hex'),
  refreshToken: randomBytes(400).toString('hex'),
  expiresAtMs: Date.now() + day,
});
const signedIn = (user) => ({
  identity: { username: `user-${user % userCount}`, roles: ['analyst'] },
  tokens: tokens(),
  renew: async (old) => old,
});

const open = (count) => {
  const store = new SessionStore({
    idleTimeoutMs: day,
    maxAgeMs: day,
    maxPerUser: 256,
    maxTotal: 2 * count,
    defaults: {},
    now: Date.now,
  });
  return { store, bearers: Array.from({ length: count }, (_, user) => store.create(signedIn(user), '')) };
};

/** Microseconds that each takes, at the median of the rounds. */
const time = (count, body) => {
  const taken = Array.from({ length: rounds }, () => {
    const since = performance.now();
    for (let index = 0; index < count; index += 1) body(index);
    return ((performance.now() - since) * 1000) / count;
  });
  return taken.sort((left, right) => left - right)[rounds >> 1];
};

/** Opens a session and closes it again: each is the user's 21st or so. */
const turnover = ({ store }) => {
  const next = signedIn(0);
  return time(2000, () => store.close(store.find(store.create(next, ''))));
};
/** Opens a session in place of the user's least recently used one. */
const eviction = ({ store }) => {
  const next = { ...signedIn(0), identity: { username: 'busy', roles: [] } };
  for (let index = 0; index < 256; index += 1) store.create(next, '');
  return time(2000, () => store.create(next, ''));
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
collectGarbage();
const before = process.memoryUsage();
const many = open(sessionCount);
collectGarbage();
const after = process.memoryUsage();
const few = open(sessionCount / 10);
const bearerOf = (index) => many.bearers[(index * 7919) % sessionCount];

const digest = time(lookUps, (index) => hash('sha256', bearerOf(index), 'hex'));
const lookUp = time(lookUps, (index) => many.store.find(bearerOf(index)));
const since = performance.now();
many.store.sweep();
const sweepMs = performance.now() - since;

const line = (name, measured, reference, unit) =>
  console.log(
    `${name.padEnd(28)} measured ${measured.toFixed(3)}  reference ${reference.toFixed(3)} ${unit}`,
  );
line('look-up / SHA-256', lookUp, digest, 'µs');
line('open and close / of 1,000', turnover(many), turnover(few), 'µs');
line('giving way / of 1,000', eviction(many), eviction(few), 'µs');
console.log(`a sweep of ${sessionCount} takes ${sweepMs.toFixed(1)} ms`);
const sessionBytes = Math.round((after.heapUsed - before.heapUsed) / sessionCount);
console.log(`a session takes ${sessionBytes} B with its tokens`);
