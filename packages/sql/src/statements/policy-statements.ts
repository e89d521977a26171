import type { WrittenParts } from './ddl-statements.js';

/** Statements about who may see and change what. Names are as written and still to be resolved. */
export type PolicyStatement = PolicyChange | ShowPolicies | ShowGrants;

/** Those that change rules: for admins only. */
export type PolicyChange = CreatePolicy | DropPolicy | ChangeGrants;

/** What rules are on: `relation` is a table or view. */
export interface WrittenTarget {
  readonly kind: 'schema' | 'relation';
  readonly name: WrittenParts;
}

export type WrittenRule =
  | { readonly kind: 'row-filter'; readonly expression: string }
  | { readonly kind: 'column-mask'; readonly column: string; readonly expression: string };

export interface CreatePolicy {
  readonly kind: 'create-policy';
  readonly statementType: 'policy';
  readonly name: string;
  readonly orReplace: boolean;
  readonly on: WrittenTarget;
  readonly rule: WrittenRule;
  /** Exact, but for the role of everybody, which is `PUBLIC` however it was written without quotes. */
  readonly roles: readonly string[];
  readonly except: readonly string[];
}

export interface DropPolicy {
  readonly kind: 'drop-policy';
  readonly statementType: 'policy';
  readonly name: string;
  readonly ifExists: boolean;
}

export type WrittenPrivilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

export interface ChangeGrants {
  readonly kind: 'grant' | 'revoke';
  readonly statementType: 'policy';
  /** ALL is all of them. */
  readonly privileges: readonly WrittenPrivilege[];
  readonly on: WrittenTarget;
  readonly roles: readonly string[];
}

export interface ShowPolicies {
  readonly kind: 'show-policies';
  readonly statementType: 'utility';
  readonly on?: WrittenTarget;
}

export interface ShowGrants {
  readonly kind: 'show-grants';
  readonly statementType: 'utility';
  readonly on?: WrittenTarget;
}
