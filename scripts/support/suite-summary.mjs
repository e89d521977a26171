// The last line of every suite. .ci/run adds these lines up, so their form is fixed.

/** Prints `<suite>: N passed, N failed` and sets the exit code. */
export function endSuite(suite, passed, failed) {
  console.log(`${suite}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
