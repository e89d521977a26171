/** By which rules, and for whom, something was planned: what rules say of other tables may change meanwhile. */
import type { Session } from '../identity/session.js';
import { targetKey } from './index-policies.js';
import type { PolicyIdentity, PolicyTarget, TableDecision } from './policy.js';
import type { PolicyEnforcer } from './policy-enforcer.js';

export interface PolicyStamp {
  /** Who asked, and in which roles. */
  readonly identity: string;
  /** Of all rules, where what was told hangs on any of them. */
  readonly version?: string;
  /** What was decided of each table and view that was asked for. */
  readonly decisions: readonly Decided[];
}

interface Decided {
  readonly target: PolicyTarget;
  readonly text: string;
}

/** Of what hangs on any rule: lists of what there is. */
export function wholeStamp(enforcer: PolicyEnforcer, session: Session): PolicyStamp {
  return {
    identity: identityText(enforcer.identityOf(session)),
    version: enforcer.version(),
    decisions: [],
  };
}

/** Whether the same would be decided now. */
export function isStillSo(
  enforcer: PolicyEnforcer,
  session: Session,
  { identity, version, decisions }: PolicyStamp,
): boolean {
  const asked = enforcer.identityOf(session);
  if (identityText(asked) !== identity) return false;
  if (version !== undefined && version !== enforcer.version()) return false;
  return decisions.every(
    ({ target, text }) => decisionText(enforcer.decide(asked, target, 'SELECT')) === text,
  );
}

/** Takes down what is decided for one statement. */
export class DecisionLog {
  readonly #enforcer: PolicyEnforcer;
  readonly #identity: PolicyIdentity;
  readonly #decided = new Map<string, Decided>();
  #version: string | undefined;
  #isMixed = false;

  constructor(enforcer: PolicyEnforcer, identity: PolicyIdentity) {
    this.#enforcer = enforcer;
    this.#identity = identity;
  }

  get stamp(): PolicyStamp {
    return {
      identity: identityText(this.#identity),
      ...(this.#version !== undefined && { version: this.#version }),
      decisions: [...this.#decided.values()],
    };
  }

  decide(target: PolicyTarget): TableDecision {
    const decision = this.#enforcer.decide(this.#identity, target, 'SELECT');
    const text = decisionText(decision);
    const before = this.#decided.get(targetKey(target));
    // Asked twice, and told two things: nobody has written both.
    if (before !== undefined && before.text !== text) this.#isMixed = true;
    if (before === undefined) this.#decided.set(targetKey(target), { target, text });
    return decision;
  }

  /** From now on any change of rules counts. */
  hangsOnAll(): void {
    this.#version ??= this.#enforcer.version();
  }

  isStillSo(session: Session): boolean {
    return !this.#isMixed && isStillSo(this.#enforcer, session, this.stamp);
  }
}

function identityText({ username, roles, isNameVerified }: PolicyIdentity): string {
  return JSON.stringify([username, [...roles].sort(), isNameVerified]);
}

function decisionText(decision: TableDecision): string {
  return decision.kind === 'restricted'
    ? JSON.stringify([decision.filters, [...decision.masks], decision.applied])
    : decision.kind;
}
