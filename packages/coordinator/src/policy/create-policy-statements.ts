import type { PolicyStatements } from '../service/statement-planner.js';
import { changePolicies, type PolicyStatementDependencies } from './policy-statements.js';
import { showPolicies } from './show-policies.js';

/** What the planner of statements asks of policies. */
export function createPolicyStatements(dependencies: PolicyStatementDependencies): PolicyStatements {
  return {
    change: (statement, options) => changePolicies(statement, dependencies, options),
    show: (statement, session) => showPolicies(statement, dependencies, session),
  };
}
