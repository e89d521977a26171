/**
 * Who may see what of a table, in words that no door and no engine has to be known for (design section 7). Policies come from
 * SQL statements, from a rules file, and with a table from its catalog; all of them say this.
 */

/** Names a schema, or with `table` a table or view in it. Compared without regard to case, as the engine compares names. */
export interface PolicyTarget {
  readonly catalog: string;
  /** As `schemaName` writes namespaces. */
  readonly schema: string;
  readonly table?: string;
}

export type PolicyRule =
  /** Rows for which the expression is true are there; others, NULL included, are not. */
  | { readonly kind: 'row-filter'; readonly expression: string }
  /** What is read of the column is the expression's value, in the column's type. */
  | { readonly kind: 'column-mask'; readonly column: string; readonly expression: string };

/** Everybody has it. */
export const publicRole = 'PUBLIC';

export type PolicyOrigin = 'sql' | 'rules-file' | 'catalog';

export interface Policy {
  /** Within its origin. */
  readonly name: string;
  readonly origin: PolicyOrigin;
  readonly target: PolicyTarget;
  readonly rule: PolicyRule;
  /** Roles that it is applied to; exact, as the identity provider writes them. */
  readonly roles: readonly string[];
  /** Roles that it is not applied to, whatever others they have: what it hides from others is theirs to see. */
  readonly except: readonly string[];
}

export type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
export const privileges: readonly Privilege[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

export interface PrivilegeGrant {
  readonly privilege: Privilege;
  readonly target: PolicyTarget;
  readonly role: string;
  readonly origin: Exclude<PolicyOrigin, 'catalog'>;
}

/** One state of all rules of the service; another state has another version. */
export interface PolicySet {
  /** Digest of what it says: equal on all coordinators that have the same rules. */
  readonly version: string;
  readonly policies: readonly Policy[];
  readonly grants: readonly PrivilegeGrant[];
  /** Of tables that no policy and no grant names. */
  readonly default: 'allow' | 'deny';
}

/** As far as policies ask for it. */
export interface PolicyIdentity {
  readonly username: string;
  readonly roles: readonly string[];
  /** False where anybody may type any name (client credentials): then `current_user` in a policy fails closed. */
  readonly isNameVerified: boolean;
}

/** What holds of one table or view for one identity. */
export type TableDecision =
  /** `reason` is for the service's log: users are told no more than that they may not. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unrestricted' }
  /** At least one policy is applied, or was left out for a role of EXCEPT (then without filters and masks). */
  | RestrictedTable;

export interface RestrictedTable {
  readonly kind: 'restricted';
  /** All of them must be true of a row. */
  readonly filters: readonly AppliedExpression[];
  /** By column in lower case; at most one each. */
  readonly masks: ReadonlyMap<string, AppliedExpression>;
  /** Names of the policies, for the audit log and EXPLAIN. */
  readonly applied: readonly string[];
}

export interface AppliedExpression {
  /** `origin:name`, for messages to admins. */
  readonly policy: string;
  readonly expression: string;
}
