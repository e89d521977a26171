/** Tables have no keys here; tools ask for them all the same, and take an answer without rows. */
import { type InformationView, informationView, numberColumn, textColumn } from './information-view.js';

const text = (name: string) => textColumn<never>(name, () => null);
const number = (name: string) => numberColumn<never>(name, () => null);
const constraint = ['constraint_catalog', 'constraint_schema', 'constraint_name'].map(text);
const table = ['table_catalog', 'table_schema', 'table_name'].map(text);

export const keyViews: readonly InformationView[] = [
  informationView<never>({
    name: 'table_constraints',
    columns: [
      ...constraint,
      ...table,
      ...['constraint_type', 'is_deferrable', 'initially_deferred', 'enforced'].map(text),
    ],
    items: async () => [],
  }),
  informationView<never>({
    name: 'key_column_usage',
    columns: [
      ...constraint,
      ...table,
      text('column_name'),
      number('ordinal_position'),
      number('position_in_unique_constraint'),
    ],
    items: async () => [],
  }),
  informationView<never>({
    name: 'referential_constraints',
    columns: [
      ...constraint,
      ...['unique_constraint_catalog', 'unique_constraint_schema', 'unique_constraint_name'].map(text),
      ...['match_option', 'update_rule', 'delete_rule'].map(text),
    ],
    items: async () => [],
  }),
];
