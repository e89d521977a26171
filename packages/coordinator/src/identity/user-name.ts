const maxLength = 256;

/** Whether something can name a user or a role: a text of bounded length, on one line, without control characters. */
export function isUserName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxLength && /^[^\p{Cc}\u2028\u2029]+$/u.test(value);
}
