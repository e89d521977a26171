/** What the commands answer their caller. In docs/cli.md and the help texts too. */
export const exitCodes = {
  ok: 0,
  /** A statement failed. */
  failed: 1,
  /** The command line or the configuration is not right; nothing was run. */
  usage: 2,
  /** The server could not be reached, or did not let us in. */
  connection: 3,
  /** The output could not be written. */
  output: 4,
  /** Ctrl-C, as shells count it: 128 and the number of the signal. */
  interrupted: 130,
} as const;
