import type { CrossProblem } from './cross-check.js';
import type { Config } from './registry.js';

export function* checkLambda(config: Config): Iterable<CrossProblem> {
  const location = config['fragments.spool_location'];
  if (location !== undefined && !/^s3:\/\/[^/]+(?:\/|$)/.test(location))
    yield {
      keys: ['fragments.spool_location'],
      message: '`fragments.spool_location` names no bucket: it should be s3://bucket/prefix',
    };
  if (config['lambda.function_name'] === undefined) return;
  for (const key of ['lambda.public_key', 'fragments.spool_location'] as const)
    if (config[key] === undefined)
      yield {
        keys: ['lambda.function_name', key],
        message: `\`lambda.function_name\` is set, but \`${key}\` is not: fragments are sent to a function encrypted, and large answers come through a bucket`,
      };
}
