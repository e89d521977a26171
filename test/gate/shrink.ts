/**
 * A shorter statement of which the same is still true: runs of tokens are left out, first long ones, then single ones.
 * Asks at most `maxAttempts` times.
 */
export async function shrink(
  sql: string,
  isStill: (sql: string) => Promise<boolean>,
  maxAttempts = 120,
): Promise<string> {
  let tokens: readonly string[] = sql.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\s+|[^\w\s]/gu) ?? [];
  let attempts = 0;
  for (
    let length = Math.ceil(tokens.length / 2);
    length >= 1;
    length = length === 1 ? 0 : Math.ceil(length / 2)
  )
    for (let at = 0; at < tokens.length && attempts < maxAttempts; ) {
      const shorter = [...tokens.slice(0, at), ...tokens.slice(at + length)];
      attempts++;
      if (await isStill(shorter.join(''))) tokens = shorter;
      else at += length;
    }
  return tokens.join('');
}
