/** Resolves once the condition holds; a test that waits in vain ends by the runner's own timeout. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
