/** What a plan was made under: it is not run under anything else. */
import { QueryError } from '@svc/base';
import type { Session } from '../identity/session.js';
import type { AppliedPolicies } from '../planner/guard-relations.js';
import type { PolicyEnforcer } from './policy-enforcer.js';
import { isStillSo, type PolicyStamp, wholeStamp } from './policy-stamp.js';

export interface PlannedPolicies {
  /** Of the policies that were applied. */
  readonly names: readonly string[];
  /** Rows are hidden from the user: no counter and no message may tell of them. */
  readonly isGuarded: boolean;
  /** Absent: it has run. */
  readonly stamp?: PolicyStamp;
}

interface Enforced {
  readonly policies?: { readonly enforcer: PolicyEnforcer } | undefined;
}

/** Of what has been planned, or of what is to be answered: then it is to be asked for before. Undefined: there are no policies here at all. */
export function plannedPolicies(
  { policies }: Enforced,
  session: Session,
  applied?: Pick<AppliedPolicies, 'names' | 'isGuarded' | 'stamp'>,
): PlannedPolicies | undefined {
  if (policies === undefined) return undefined;
  const { names = [], isGuarded = false, stamp = wholeStamp(policies.enforcer, session) } = applied ?? {};
  return { names, isGuarded, stamp };
}

/** Throws POLICY_CHANGED for what was planned under other rules, or with other roles. */
export function throwIfPoliciesChanged(
  { policies }: Enforced,
  session: Session,
  planned: { readonly policies?: { readonly stamp?: PolicyStamp | undefined } | undefined },
): void {
  const stamp = planned.policies?.stamp;
  if (policies === undefined || stamp === undefined) return;
  if (!isStillSo(policies.enforcer, session, stamp)) throw policiesChanged();
}

export function policiesChanged(): QueryError {
  return new QueryError(
    'POLICY_CHANGED',
    'Policies or roles have changed since the statement was planned: plan it again (GetFlightInfo).',
  );
}
