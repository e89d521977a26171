/**
 * The public half of the first key in a JSON Web Key Set, as JSON Web Key: nothing else of it is copied. Throws without
 * naming anything of the set.
 */
export function publicKeyOf(keySet: string): string {
  const key = firstKey(keySet);
  const { kty, crv, x, y, kid } = key ?? {};
  if (
    kty !== 'EC' ||
    crv !== 'P-256' ||
    typeof x !== 'string' ||
    typeof y !== 'string' ||
    key?.d === undefined
  )
    throw new Error(
      'The secret FunctionKeys must be a JSON Web Key Set of private keys on the curve P-256 (docs/deploy.md says how to make one).',
    );
  return JSON.stringify({ kty, crv, x, y, ...(typeof kid === 'string' ? { kid } : {}) });
}

function firstKey(keySet: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(keySet).keys[0];
  } catch {
    return undefined;
  }
}
