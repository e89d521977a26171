/** Failures of connections that another try may not meet. */
const passingCodes = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'EPROTO',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
]);

/** The code of a failure that may pass; `undefined` for any other. */
export function passingNetworkCode(caught: unknown): string | undefined {
  const code = codeOf(caught);
  if (code === undefined) return undefined;
  return passingCodes.has(code) || code.startsWith('HPE_') ? code : undefined;
}

/** The code that Node gave a failure, also where a library wrapped it. */
export function codeOf(caught: unknown): string | undefined {
  let error = caught;
  for (let depth = 0; depth < 8 && error instanceof Error; depth += 1) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return undefined;
}
