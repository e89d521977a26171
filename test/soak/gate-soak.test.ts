/** The long fuzz of the SQL gate: `npm run soak -- gate`. The short form is part of the tests. */
import { test } from 'node:test';
import { checkFuzz } from '../gate/check-fuzz.js';

const count = process.env['SOAK'] === 'long' ? 50_000 : 10_000;

test(`nothing of ${count} generated statements that passes the gate reaches out of the catalog`, async (context) => {
  await checkFuzz(context, { seed: Number(process.env['SOAK_SEED'] ?? 1), count });
});
