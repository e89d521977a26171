/** The command line itself is not right: exit code 2, with the way to the help text. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
