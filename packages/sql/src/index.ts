export { type ParsedQuery, readSerializedSql, writeSerializedSql } from './ast/parsed-statement.js';
export type { ForeignDialect } from './dialects/foreign-dialect.js';
export { checkForeignQuery, type ForeignQuery } from './dialects/foreign-query.js';
export { textOfDialect } from './dialects/foreign-text.js';
export {
  type FileRead,
  filesPlaceholder,
  queryOfCall,
  rewriteFileReads,
} from './gate/file-reads.js';
export { functionPolicy, type GateProfile, typePolicy } from './gate/function-gate.js';
export { type GatedQuery, gate, tableKey } from './gate/gate.js';
export { rewriteTables, type TableTarget } from './gate/rewrite-tables.js';
export { type StatementValues, statementValueMacros } from './gate/statement-values.js';
export type { TableReference, TimeTravel } from './gate/table-gate.js';
export { describedExpression, selectOfExpression, type TimeExpression } from './gate/time-expression.js';
export {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from './json/lossless.js';
export type { PlanNode } from './plan/plan-node.js';
export { PlanNotUnderstood } from './plan/plan-reader.js';
export {
  deserializeQuery,
  executionSettings,
  planQuery,
  planSettingStatements,
  serializeQuery,
  showsGatheredOrder,
  stubScan,
} from './plan/plan-settings.js';
export { readPlan } from './plan/read-plan.js';
export { hasSample } from './policy/has-sample.js';
export { isLeakproofQuery } from './policy/leakproof.js';
export {
  type GuardFacts,
  type GuardingView,
  type GuardProblem,
  guardFacts,
  guardProblem,
  stubOf,
} from './policy/plan-guard.js';
export {
  type PolicyContext,
  type PolicyExpression,
  policyExpressionQuery,
  readPolicyExpression,
} from './policy/policy-expression.js';
export { type StageToCheck, stageGuardProblem } from './policy/stage-guard.js';
export { dependsOnTimeZone } from './policy/time-zone.js';
export { NotPrintable } from './print/not-printable.js';
export { joinKeys, type KeyColumn, type PlannedJoinKeys } from './scan/join-keys.js';
export { decimalText, timestampText } from './scan/literal-text.js';
export { type PlainColumns, plainColumns } from './scan/plain-columns.js';
export { scanFilterSql } from './scan/scan-filter-sql.js';
export type {
  ColumnPath,
  ComparisonOperator,
  LimitedUse,
  Literal,
  RowUse,
  ScanFilter,
  ScanRequest,
} from './scan/scan-request.js';
export { type PlannedScan, scanRequests } from './scan/scan-requests.js';
export { type StagePlanOptions, stagePlan } from './stages/stage-plan.js';
export {
  type Stage,
  type StageColumn,
  type StagedPlan,
  type StageGuard,
  type StageScan,
  stageNamespace,
} from './stages/staged-plan.js';
export { classify } from './statements/classify.js';
export type {
  CreateSchema,
  CreateTable,
  CreateView,
  DropObject,
  Insert,
  PartitionTransform,
  Properties,
  WriteStatement,
} from './statements/ddl-statements.js';
export { policyExpression } from './statements/policy-expression.js';
export type {
  ChangeGrants,
  CreatePolicy,
  DropPolicy,
  PolicyChange,
  PolicyStatement,
  ShowGrants,
  ShowPolicies,
  WrittenTarget,
} from './statements/policy-statements.js';
export { refusalOf } from './statements/refusals.js';
export type {
  LikePattern,
  RefusedStatement,
  ShowCatalogs,
  ShowSchemas,
  ShowTables,
  Statement,
  StatementType,
} from './statements/statement.js';
export { withoutEscapes } from './text/escapes.js';
export { quoteIdentifier, quoteString } from './text/literals.js';
export { inlineParameters, renumberParameters } from './text/parameters.js';
export { type StatementText, splitStatements } from './text/split.js';
export { valuesParameters } from './text/values-parameters.js';
