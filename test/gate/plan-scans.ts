/** Which table functions a plan holds that no statement may call, whatever the statement looked like. */
import type { Signatures } from './grammar/signatures.js';

/** Names of operators, as plans have them, that read something outside of the catalog. */
export type ForeignScans = ReadonlySet<string>;

export function foreignScans({ tables }: Signatures): ForeignScans {
  const names = tables.filter(({ isAllowed }) => !isAllowed).map(({ name }) => name.toUpperCase());
  // The catalog's tables are views over literals, so that no table of any database is scanned.
  return new Set([...names, 'SEQ_SCAN', 'TABLE_SCAN', 'INDEX_SCAN']);
}

export function foreignScansIn(plans: readonly string[], scans: ForeignScans): readonly string[] {
  const names = plans.flatMap((plan) =>
    [...plan.matchAll(/"name":\s*"([^"]*)"/g)].map(([, name]) => name?.trim() ?? ''),
  );
  return [...new Set(names)].filter((name) => scans.has(name)).map((name) => `its plan has ${name}`);
}
