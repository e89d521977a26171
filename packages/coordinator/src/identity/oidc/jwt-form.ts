/** Whether a token has the form of a JWT; another one means something to its provider only. */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
