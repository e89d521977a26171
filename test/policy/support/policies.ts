/** Row filters that hide the same rows of `people` in many forms, the masks of `staff`, and both doors they come by. */

export interface RowFilter {
  /** Names the schema whose `people` has it, too. */
  readonly name: string;
  /** Given the name of the mapping table. */
  readonly expression: (mapping: string) => string;
}

export const rowFilters: readonly RowFilter[] = [
  { name: 'equal', expression: () => "region = 'EU'" },
  { name: 'modulo', expression: () => 'id % 2 = 0' },
  {
    name: 'mapped',
    expression: (mapping) => `region IN (SELECT m.region FROM ${mapping} m WHERE m.username = 'analyst')`,
  },
  { name: 'lowered', expression: () => "lower(region) = 'eu'" },
  { name: 'matching', expression: () => "region LIKE '%U' AND region NOT LIKE 'US%'" },
  { name: 'cases', expression: () => "CASE WHEN region = 'EU' THEN true ELSE false END" },
  { name: 'either', expression: () => "region = 'EU' OR id IN (-1, -2)" },
  { name: 'expressed', expression: () => "regexp_matches(region, '^E')" },
  {
    name: 'existing',
    expression: (mapping) =>
      `EXISTS (SELECT 1 FROM ${mapping} m WHERE m.region = people.region AND m.username = 'analyst')`,
  },
  {
    name: 'scalar',
    expression: (mapping) => `region = (SELECT max(m.region) FROM ${mapping} m WHERE m.username = 'analyst')`,
  },
];

const masks: Readonly<Record<string, string>> = {
  email: "left(email, 1) || '***'",
  pay: 'NULL',
  phone: "CASE WHEN phone IS NULL THEN NULL ELSE 'hidden' END",
  grade: '0',
  badges: 'NULL',
};

interface WrittenPolicy {
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  /** Of a mask. */
  readonly column?: string;
  readonly expression: string;
  readonly to: string;
}

/** All policies of the filter's schema. They are not applied to the role `admin`, which makes the tables. */
export function policiesOf(
  { name: schema, expression }: RowFilter,
  mapping: string,
): readonly WrittenPolicy[] {
  const on = (table: string, text: string) =>
    ({ name: `${schema}_${table}`, schema, table, expression: text, to: 'analyst' }) as const;
  return [
    on('people', expression(mapping)),
    on('ledger', "region = 'EU'"),
    { ...on('closed', 'true'), to: 'nobody' },
    ...Object.entries(masks).map(([column, mask]) => ({
      ...on('staff', mask),
      name: `${schema}_${column}`,
      column,
    })),
  ];
}

export function createPolicySql(policy: WrittenPolicy): string {
  const { name, schema, table, column, expression, to } = policy;
  const rule = column === undefined ? `ROW FILTER (${expression})` : `COLUMN MASK ${column} (${expression})`;
  return `CREATE POLICY ${name} ON TABLE ${schema}.${table} ${rule} TO ${to} EXCEPT admin`;
}

/** A rules file (docs/policies.md). */
export function rulesFile(policies: readonly WrittenPolicy[]): string {
  const sections = policies.map(({ name, schema, table, column, expression, to }) => {
    const rule = column === undefined ? { row_filter: expression } : { column, mask: expression };
    const fields = Object.entries({ name, schema, table, ...rule });
    const lines = fields.map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return ['[[policies]]', ...lines, `to = ["${to}"]`, 'except = ["admin"]'].join('\n');
  });
  return ['version = 1', ...sections].join('\n\n');
}
