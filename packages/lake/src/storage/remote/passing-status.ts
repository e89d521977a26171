const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);
const maxRetryAfterMs = 20_000;

/** Whether a server that answers with this status may answer the same request otherwise in a moment. */
export function isPassingStatus(status: number): boolean {
  return passingStatuses.has(status);
}

/** What a `Retry-After` header asks for, within bounds; dates and anything else are nothing. */
export function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header)
    ? Math.min(Number(header) * 1000, maxRetryAfterMs)
    : undefined;
}
