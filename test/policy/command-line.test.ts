/** The shell on a service, in both worlds: all that it prints, and how it ends. Needs the built program. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runSvc } from '../cli/support/svc.js';
import { rowFilters } from './support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from './support/two-worlds.js';

let two: TwoWorlds | undefined;
before(async () => {
  two = await openTwoWorlds({ filters: rowFilters.filter(({ name }) => name === 'modulo') });
});
after(async () => await two?.[Symbol.asyncDispose]());

const attacks = [
  ['rows of a large table, and how many', 'SELECT id, word FROM wide.many WHERE id < 20000'],
  [
    'an answer and what follows it',
    'SELECT count(*), max(ssn) FROM people; SELECT max(email), max(pay) FROM staff',
  ],
  ['an error among values', "SELECT ('x' || ssn)::INTEGER FROM people"],
  ['a table that is closed', 'SELECT * FROM closed'],
] as const;

describe('what is hidden changes nothing on the command line', () => {
  for (const [words, sql] of attacks)
    it(words, async () => {
      const { services, credentials } = opened(two);
      const [quiet, loud] = await Promise.all(
        services.map(({ flightUrl, folder }) =>
          runSvc(['sql', '--server', flightUrl, '--schema', 'modulo', '--format', 'csv', '-c', sql], {
            cwd: folder,
            env: { SVC_USER: credentials.username, SVC_PASSWORD: credentials.password },
          }),
        ),
      );
      assert.ok(quiet?.stdout || quiet?.stderr);
      assert.deepEqual(loud, quiet);
    });
});
