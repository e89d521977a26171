/** Choices that a seed repeats, for generated tests. */

/** Park–Miller, in (0, 1): small, and the same on every machine. */
export function randomFrom(start: number): () => number {
  let state = start % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

export function pick<T>(choices: readonly T[], random: () => number): T {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new Error('nothing to pick from');
  return choice;
}
