import { QueryError } from '@svc/base';
import type { RefusedStatement, StatementType } from './statement.js';

export function unsupported(statementType: StatementType, feature: string): RefusedStatement {
  return { kind: 'unsupported', statementType, feature };
}

export function notAllowed(feature: string): RefusedStatement {
  return { kind: 'not-allowed', statementType: 'utility', feature };
}

/** The error to answer a refused statement with: NOT_SUPPORTED or STATEMENT_NOT_ALLOWED, naming it. */
export function refusalOf(statement: RefusedStatement): QueryError {
  return statement.kind === 'unsupported'
    ? new QueryError('NOT_SUPPORTED', `${statement.feature} is not supported by this version.`)
    : new QueryError('STATEMENT_NOT_ALLOWED', `${statement.feature} is not allowed.`);
}
