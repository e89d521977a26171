/**
 * Rules as a document: JSON where the service keeps what SQL said, TOML where an operator writes them (docs/policies.md).
 * Both have the same keys.
 */
import { QueryError } from '@svc/base';
import { policyExpression } from '@svc/sql';
import {
  type Policy,
  type PolicyOrigin,
  type PolicySet,
  type PolicyTarget,
  type PrivilegeGrant,
  privileges,
  publicRole,
} from '../policy.js';
import { type RuleFields, ruleFields, shownName } from './rule-fields.js';

export type Rules = Pick<PolicySet, 'policies' | 'grants'>;

export const noRules: Rules = { policies: [], grants: [] };

export interface RuleDocumentOptions {
  /** The file or object, for messages. */
  readonly source: string;
  readonly origin: Exclude<PolicyOrigin, 'catalog'>;
  /** The first one is meant where a rule names none. Rules on any other would protect nothing: they are refused. */
  readonly catalogs: readonly string[];
}

const documentVersion = 1;
/** A document above this is not read. */
export const maxDocumentBytes = 64 * 2 ** 20;
/** In characters. */
export const maxExpressionLength = 32 * 1024;

/** Throws CONFIGURATION_ERROR naming the source and the place in it. */
export function readRuleDocument(document: unknown, options: RuleDocumentOptions): Rules {
  const fields = ruleFields(document, options.source);
  const version = fields.integer('version');
  if (version !== documentVersion)
    throw fields.error(`\`version\` is ${version}, but this service reads version ${documentVersion}`);
  const policies = fields.tables('policies').map((each) => readPolicy(each, options));
  const grants = fields.tables('grants').flatMap((each) => readGrants(each, options));
  fields.end();
  const names = new Set<string>();
  for (const { name } of policies) {
    if (names.has(name.toLowerCase())) throw fields.error(`there are two policies ${shownName(name)}`);
    names.add(name.toLowerCase());
  }
  return { policies, grants };
}

/** What `readRuleDocument` reads, as JSON. */
export function printRuleDocument({ policies, grants }: Rules): string {
  const document = {
    version: documentVersion,
    policies: policies.map(({ name, target, rule, roles, except }) => ({
      name,
      ...target,
      ...(rule.kind === 'row-filter'
        ? { row_filter: rule.expression }
        : { column: rule.column, mask: rule.expression }),
      to: roles,
      ...(except.length > 0 && { except }),
    })),
    grants: grants.map(({ privilege, target, role }) => ({ privileges: [privilege], ...target, to: [role] })),
  };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

function readPolicy(fields: RuleFields, options: RuleDocumentOptions): Policy {
  const name = fields.string('name');
  const target = readTarget(fields, options);
  const rule = readRule(fields);
  const roles = readRoles(fields);
  const except = fields.strings('except');
  if (except.includes(publicRole)) throw fields.error('`except` with PUBLIC would except everybody');
  fields.end();
  return { name, origin: options.origin, target, rule, roles, except };
}

function readRule(fields: RuleFields): Policy['rule'] {
  const filter = fields.optionalString('row_filter');
  const column = fields.optionalString('column');
  const mask = fields.optionalString('mask');
  if (filter !== undefined && column === undefined && mask === undefined)
    return { kind: 'row-filter', expression: expressionOf(fields, 'row_filter', filter) };
  if (filter === undefined && column !== undefined && mask !== undefined)
    return { kind: 'column-mask', column, expression: expressionOf(fields, 'mask', mask) };
  throw fields.error('it must have either `row_filter`, or `column` and `mask`');
}

function expressionOf(fields: RuleFields, key: string, text: string): string {
  if (text.length > maxExpressionLength)
    throw fields.error(`\`${key}\` has more than ${maxExpressionLength} characters`);
  try {
    return policyExpression(text);
  } catch (error) {
    // Files are read by other people than expressions are for: the message does not quote it.
    if (error instanceof QueryError && error.category === 'user')
      throw fields.error(`\`${key}\` is not one expression of SQL`);
    throw error;
  }
}

function readGrants(fields: RuleFields, options: RuleDocumentOptions): readonly PrivilegeGrant[] {
  const target = readTarget(fields, options);
  const named = fields.strings('privileges');
  const unknown = named.find((each) => each !== 'ALL' && !privileges.some((known) => known === each));
  if (unknown !== undefined || named.length === 0)
    throw fields.error(`\`privileges\` must be a list of ${privileges.join(', ')} or ALL`);
  const granted = privileges.filter((each) => named.includes('ALL') || named.includes(each));
  const roles = readRoles(fields);
  fields.end();
  const { origin } = options;
  return roles.flatMap((role) => granted.map((privilege) => ({ privilege, target, role, origin })));
}

function readTarget(fields: RuleFields, { catalogs }: RuleDocumentOptions): PolicyTarget {
  const catalog = fields.optionalString('catalog') ?? catalogs[0] ?? '';
  if (!catalogs.some((known) => known.toLowerCase() === catalog.toLowerCase()))
    throw fields.error(
      `it is about catalog ${shownName(catalog)}, but there is only ${catalogs.map((each) => JSON.stringify(each)).join(', ')}`,
    );
  const schema = fields.string('schema');
  const table = fields.optionalString('table');
  return { catalog, schema, ...(table !== undefined && { table }) };
}

function readRoles(fields: RuleFields): readonly string[] {
  const roles = fields.strings('to');
  if (roles.length === 0) throw fields.error('`to` must name a role (PUBLIC is everybody)');
  return roles;
}
