import type { Config, Logger, Metrics } from '@svc/base';
import { createS3Signer, createS3Store } from '@svc/lake';
import { createLambdaExecutor, type LambdaExecutor } from './lambda-executor.js';

/** The function of the configuration, or undefined where there is none. Throws CONFIGURATION_ERROR. Nothing is sent yet. */
export async function openLambdaExecutor(
  config: Config,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
): Promise<LambdaExecutor | undefined> {
  const functionName = config['lambda.function_name'];
  const location = config['lambda.spool_location'];
  if (functionName === undefined || location === undefined) return undefined;
  // Nothing of a user is read with these: the bucket is the service's own.
  const place = {
    endpoint: config['lambda.spool_endpoint'],
    region: config['lambda.spool_region'],
    access: { kind: 'standard' },
  } as const;
  return await createLambdaExecutor({
    functionName,
    region: config['lambda.region'],
    endpoint: config['lambda.endpoint'],
    publicKey: config['lambda.public_key'] ?? '',
    spool: { location, store: createS3Store({ ...place, metrics }), signer: createS3Signer(place) },
    maxConcurrency: config['lambda.max_concurrency'],
    invocationTimeoutMs: config['lambda.invocation_timeout_secs'] * 1000,
    metrics,
    logger: logger.child('svc::lambda'),
  });
}
