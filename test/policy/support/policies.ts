/** Row filters that hide the same rows of `people` in many forms, and the masks of `staff`. */

export type PolicyForm = 'leakproof' | 'computed' | 'mapped';

export interface RowFilter {
  /** Names the schema whose `people` has it, too. */
  readonly name: string;
  /** What a barrier has to expect of it: comparisons of columns, something the engine computes, or a join. */
  readonly form: PolicyForm;
  /** Given the name of the mapping table. */
  readonly expression: (mapping: string) => string;
}

export const rowFilters: readonly RowFilter[] = [
  { name: 'equal', form: 'leakproof', expression: () => "region = 'EU'" },
  { name: 'modulo', form: 'computed', expression: () => 'id % 2 = 0' },
  { name: 'matching', form: 'computed', expression: () => "region LIKE '%U' AND region NOT LIKE 'US%'" },
  { name: 'lowered', form: 'computed', expression: () => "lower(region) = 'eu'" },
  { name: 'cases', form: 'computed', expression: () => "CASE WHEN region = 'EU' THEN true ELSE false END" },
  { name: 'either', form: 'leakproof', expression: () => "region = 'EU' OR id IN (-1, -2)" },
  { name: 'expressed', form: 'computed', expression: () => "regexp_matches(region, '^E')" },
  {
    name: 'mapped',
    form: 'mapped',
    expression: (mapping) => `region IN (SELECT m.region FROM ${mapping} m WHERE m.username = 'analyst')`,
  },
  {
    name: 'existing',
    form: 'mapped',
    expression: (mapping) => `EXISTS (SELECT 1 FROM ${mapping} m WHERE m.region = people.region AND m.username = 'analyst')`,
  },
  {
    name: 'scalar',
    form: 'mapped',
    expression: (mapping) => `region = (SELECT max(m.region) FROM ${mapping} m WHERE m.username = 'analyst')`,
  },
];

export const masks: Readonly<Record<string, string>> = {
  email: "left(email, 1) || '***'",
  pay: 'NULL',
  phone: "CASE WHEN phone IS NULL THEN NULL ELSE 'hidden' END",
  grade: '0',
  badges: 'NULL',
};
