/** Choices of a generator, all from one seed. */
import type { SeededRandom } from '../../soak/seeded-random.js';

export interface Draw {
  /** An integer, both ends included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Between `low` and `high` parts, with a separator. */
  list(low: number, high: number, part: (index: number) => string, separator?: string): string;
}

export function drawFrom(random: SeededRandom): Draw {
  const pick = <T>(choices: readonly T[]): T => {
    const choice = choices[random.between(0, choices.length - 1)];
    if (choice === undefined) throw new Error('nothing to pick from');
    return choice;
  };
  return {
    between: (low, high) => random.between(low, high),
    chance: (probability) => random.next() < probability,
    pick,
    list: (low, high, part, separator = ', ') =>
      Array.from({ length: random.between(low, high) }, (_, index) => part(index)).join(separator),
  };
}
