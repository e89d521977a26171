import { test } from 'node:test';
import { checkFuzz } from './check-fuzz.js';

test('nothing of 5,000 generated statements that passes the gate reaches out of the catalog', async (context) => {
  await checkFuzz(context, { seed: Number(process.env['SVC_TEST_SEED'] ?? 20_260_101), count: 5_000 });
});
