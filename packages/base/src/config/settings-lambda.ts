import { optional, setting } from './setting.js';
import { integer, seconds, string, url } from './value-types.js';

/** The function that runs fragments. */
export const lambdaSettings = {
  'lambda.function_name': optional(
    string,
    'Name or ARN of the fragment function, with an alias behind a colon if there is one; not set: there is none. It is invoked with the credentials of the AWS tools (variables, profile, container).',
  ),
  'lambda.region': optional(string, 'Region of the function; not set: what the AWS tools say.'),
  'lambda.endpoint': optional(url, 'Endpoint of the Lambda API; not set: that of AWS.'),
  'lambda.public_key': optional(
    string,
    "JSON Web Key (EC, P-256) that fragments are encrypted to: the public half of one of the function's (`SVC_FUNCTION_KEYS`, a key set).",
  ),
  'lambda.max_concurrency': setting(
    integer(1, 10_000),
    100,
    'Invocations at the same time, of all queries together; more wait.',
  ),
  'lambda.invocation_timeout_secs': setting(
    seconds(1, 960),
    900,
    "Time after which an invocation is given up; not less than the function's own limit.",
  ),
} as const;
