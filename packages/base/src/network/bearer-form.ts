/** Whether a text has the form of a bearer token (RFC 6750 section 2.1), whose padding may stand anywhere here. */
export function hasBearerForm(token: string): boolean {
  return /^[A-Za-z0-9._~+/=-]+$/.test(token);
}
