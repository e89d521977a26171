import type { CrossProblem } from './cross-check.js';
import type { Config } from './registry.js';

export function* checkPolicy(config: Config): Iterable<CrossProblem> {
  const location = config['policy.location'];
  if (location !== undefined && !/^s3:\/\/[^/]+\/.*[^/]$/.test(location))
    yield {
      keys: ['policy.location'],
      message: '`policy.location` names no object: it should be s3://bucket/key',
    };
}
