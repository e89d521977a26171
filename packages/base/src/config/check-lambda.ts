import type { CrossProblem } from './cross-check.js';
import type { Config } from './registry.js';

export function* checkLambda(config: Config): Iterable<CrossProblem> {
  if (config['lambda.function_name'] === undefined) return;
  for (const key of ['lambda.public_key', 'lambda.spool_location'] as const)
    if (config[key] === undefined)
      yield {
        keys: ['lambda.function_name', key],
        message: `\`lambda.function_name\` is set, but \`${key}\` is not: fragments are sent to a function encrypted, and large answers come through a bucket`,
      };
  const location = config['lambda.spool_location'];
  if (location !== undefined && !/^s3:\/\/[^/]+(?:\/|$)/.test(location))
    yield {
      keys: ['lambda.spool_location'],
      message: '`lambda.spool_location` names no bucket: it should be s3://bucket/prefix',
    };
}
