import type { Config, Logger, Metrics } from '@svc/base';
import type { Spool } from '../../spool/spool.js';
import { createLambdaExecutor, type LambdaExecutor } from './lambda-executor.js';

/** The function of the configuration, or undefined where there is none. Throws CONFIGURATION_ERROR. Nothing is sent yet. */
export async function openLambdaExecutor(
  config: Config,
  {
    spool,
    metrics,
    logger,
  }: { readonly spool: Spool | undefined; readonly metrics: Metrics; readonly logger: Logger },
): Promise<LambdaExecutor | undefined> {
  const functionName = config['lambda.function_name'];
  if (functionName === undefined || spool === undefined) return undefined;
  return await createLambdaExecutor({
    functionName,
    region: config['lambda.region'],
    endpoint: config['lambda.endpoint'],
    publicKey: config['lambda.public_key'] ?? '',
    spool,
    maxConcurrency: config['lambda.max_concurrency'],
    invocationTimeoutMs: config['lambda.invocation_timeout_secs'] * 1000,
    metrics,
    logger: logger.child('svc::lambda'),
  });
}
