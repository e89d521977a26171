/** Expressions of policies through the engine's parser, and back to text: nothing of it depends on a table or a user. */
import type { EnginePool } from '@svc/engine';
import { deserializeQuery, policyExpressionQuery, serializeQuery } from '@svc/sql';
import { LRUCache } from 'lru-cache';

export interface PolicyTexts {
  /** What the parser answers for an expression. */
  parse(expression: string, owner: string, signal: AbortSignal): Promise<string>;
  /** The SQL of a parsed `SELECT` of one expression, without its SELECT. */
  print(serialized: string, owner: string, signal: AbortSignal): Promise<string>;
}

/** In characters of what goes in and comes out. */
const cacheLimits = { max: 1024, maxSize: 8 * 2 ** 20 };

export function createPolicyTexts(pool: EnginePool): PolicyTexts {
  const cache = new LRUCache<string, string>(cacheLimits);
  const ask = async (query: string, input: string, owner: string, signal: AbortSignal): Promise<string> => {
    const key = `${query} ${input}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const lease = await pool.lease({ owner, lane: 'small', signal });
    try {
      const answer = await lease.queryText(query, [input], signal);
      cache.set(key, answer, { size: key.length + answer.length + 1 });
      return answer;
    } finally {
      await lease.release();
    }
  };
  return {
    parse: (expression, owner, signal) =>
      ask(serializeQuery, policyExpressionQuery(expression), owner, signal),
    async print(serialized, owner, signal) {
      const text = await ask(deserializeQuery, serialized, owner, signal);
      if (!text.startsWith(printedSelect))
        throw new TypeError('The engine printed something else than a SELECT.');
      return text.slice(printedSelect.length);
    },
  };
}

const printedSelect = 'SELECT ';
