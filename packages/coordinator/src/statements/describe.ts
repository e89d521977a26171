import { engineType } from '@svc/fragment-fn';
import type { NestedField } from '@svc/lake';
import { type TextAnswer, textAnswer } from '../results/text-answer.js';

const columns = [
  { name: 'column_name', isNullable: false },
  { name: 'column_type', isNullable: false },
  { name: 'null', isNullable: false },
  { name: 'comment', isNullable: true },
];

/** DESCRIBE of a table: its current columns with the engine's types. */
export function describeTable(fields: readonly NestedField[]): TextAnswer {
  return textAnswer(
    columns,
    fields.map((field) => [
      field.name,
      field.type.kind === 'unsupported' ? field.type.text : engineType(field.type),
      field.required ? 'NO' : 'YES',
      field.doc ?? null,
    ]),
  );
}

/** DESCRIBE of a query: the columns it would answer. */
export function describeQuery(
  fields: readonly { readonly name: string; readonly type: string }[],
): TextAnswer {
  return textAnswer(
    columns,
    fields.map((field) => [field.name, field.type, 'YES', null]),
  );
}
