/** One set of rules, arranged so that a decision looks only at those of its table and of its identity's roles. */
import { lookalikeSchema, lookalikeTable } from './lookalike.js';
import {
  type Policy,
  type PolicySet,
  type PolicyTarget,
  type Privilege,
  type PrivilegeGrant,
  publicRole,
} from './policy.js';

export interface IndexedPolicies extends PolicySet {
  /** By `targetKey`; what no rule names is not there. */
  readonly rulesOf: ReadonlyMap<string, TargetRules>;
  /** What `looksRuled` looks at, of each of them. */
  readonly lookalikes: ReadonlySet<string>;
  /** By the key of a schema, then by role: the tables in it that a rule of their own with this role names. */
  readonly tablesInSchema: ReadonlyMap<string, ReadonlyMap<string, TargetsByKey>>;
}

export type TargetsByKey = ReadonlyMap<string, PolicyTarget>;

/** What is said of one schema itself, or of one table itself. */
export interface TargetRules {
  /** By role that they are applied to. */
  readonly policiesOfRole: ReadonlyMap<string, readonly Policy[]>;
  /** By role that they are not applied to. */
  readonly exceptionsOfRole: ReadonlyMap<string, readonly Policy[]>;
  readonly privilegesOfRole: ReadonlyMap<string, ReadonlySet<Privilege>>;
}

interface MutableRules extends TargetRules {
  readonly policiesOfRole: Map<string, Policy[]>;
  readonly exceptionsOfRole: Map<string, Policy[]>;
  readonly privilegesOfRole: Map<string, Set<Privilege>>;
}

/** Names are compared in lower case: a rule then holds for each table that the engine could take for its own. */
export function targetKey({ catalog, schema, table }: PolicyTarget): string {
  const parts = table === undefined ? [catalog, schema] : [catalog, schema, table];
  return JSON.stringify(parts.map((part) => part.toLowerCase()));
}

/**
 * Whether a catalog may take the target, which no rule names, for one that a rule names. The name of a table may lead into another
 * schema, whose rules would hold then.
 */
export function looksRuled(
  { lookalikes }: Pick<IndexedPolicies, 'lookalikes'>,
  { catalog, schema, table }: PolicyTarget,
): boolean {
  if (lookalikes.size === 0) return false;
  const own = lookalikeSchema(schema);
  if (table === undefined) return lookalikes.has(levelsKey(catalog, 'schema', own));
  const levels = lookalikeTable(schema, table);
  if (lookalikes.has(levelsKey(catalog, 'table', levels))) return true;
  const within = levelsKey(catalog, 'schema', levels.slice(0, -1));
  return within !== levelsKey(catalog, 'schema', own) && lookalikes.has(within);
}

/** The same for targets whose names a catalog may take for one another. */
function lookalikeKey({ catalog, schema, table }: PolicyTarget): string {
  return table === undefined
    ? levelsKey(catalog, 'schema', lookalikeSchema(schema))
    : levelsKey(catalog, 'table', lookalikeTable(schema, table));
}

function levelsKey(catalog: string, kind: 'schema' | 'table', levels: readonly string[]): string {
  return JSON.stringify([catalog.toLowerCase(), kind, ...levels]);
}

export function schemaKey({ catalog, schema }: PolicyTarget): string {
  return targetKey({ catalog, schema });
}

/** In time proportional to the set: it is made once for each version. */
export function indexPolicies(set: PolicySet): IndexedPolicies {
  const rulesOf = new Map<string, MutableRules>();
  const lookalikes = new Set<string>();
  const tablesInSchema = new Map<string, Map<string, Map<string, PolicyTarget>>>();
  for (const policy of set.policies) {
    lookalikes.add(lookalikeKey(policy.target));
    const rules = rulesAt(rulesOf, policy.target);
    for (const role of policy.roles) listAt(rules.policiesOfRole, role).push(policy);
    for (const role of policy.except) listAt(rules.exceptionsOfRole, role).push(policy);
    noteTable(tablesInSchema, policy, [...policy.roles, ...policy.except]);
  }
  for (const grant of set.grants) {
    lookalikes.add(lookalikeKey(grant.target));
    const { privilegesOfRole } = rulesAt(rulesOf, grant.target);
    const privileges = privilegesOfRole.get(grant.role);
    if (privileges === undefined) privilegesOfRole.set(grant.role, new Set([grant.privilege]));
    else privileges.add(grant.privilege);
    noteTable(tablesInSchema, grant, [grant.role]);
  }
  return { ...set, rulesOf, lookalikes, tablesInSchema };
}

/** The roles that rules are found by, everybody's among them. */
export function rolesWithPublic(roles: readonly string[]): readonly string[] {
  return roles.includes(publicRole) ? roles : [...roles, publicRole];
}

function rulesAt(rulesOf: Map<string, MutableRules>, target: PolicyTarget): MutableRules {
  const key = targetKey(target);
  const known = rulesOf.get(key);
  if (known !== undefined) return known;
  const made: MutableRules = {
    policiesOfRole: new Map(),
    exceptionsOfRole: new Map(),
    privilegesOfRole: new Map(),
  };
  rulesOf.set(key, made);
  return made;
}

function listAt(map: Map<string, Policy[]>, role: string): Policy[] {
  const known = map.get(role);
  if (known !== undefined) return known;
  const made: Policy[] = [];
  map.set(role, made);
  return made;
}

function noteTable(
  tablesInSchema: Map<string, Map<string, Map<string, PolicyTarget>>>,
  { target }: Pick<Policy | PrivilegeGrant, 'target'>,
  roles: readonly string[],
): void {
  if (target.table === undefined) return;
  const tablesOfRole = mapAt(tablesInSchema, schemaKey(target));
  for (const role of roles) mapAt(tablesOfRole, role).set(targetKey(target), target);
}

function mapAt<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, V>();
  map.set(key, made);
  return made;
}
