/**
 * The names of columns, with `_1`, `_2` … after those that an earlier column has: an object or a file cannot have two of
 * one name. `keyOf` says which names are the same.
 */
export function distinctNames(names: readonly string[], keyOf: (name: string) => string): readonly string[] {
  const given = new Set(names.map(keyOf));
  const used = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let copy = 1; used.has(keyOf(distinct)); copy++) {
      const candidate = `${name}_${copy}`;
      if (!given.has(keyOf(candidate))) distinct = candidate;
    }
    used.add(keyOf(distinct));
    return distinct;
  });
}
