/**
 * The views of information_schema, with the columns of the SQL standard that something can be said of here. Names are
 * listed; metadata is loaded only for columns that nothing else tells, and of the tables that the filters leave.
 */
import { engineType } from '@svc/fragment-fn';
import { type NestedField, schemaById, sqlOfView, viewDialect } from '@svc/lake';
import {
  listRelationItems,
  listSchemas,
  loadEach,
  type RelationItem,
  type SchemaItem,
} from './catalog-items.js';
import {
  type InformationRequest,
  type InformationView,
  informationView,
  numberColumn,
  reads,
  textColumn,
} from './information-view.js';
import { keyViews } from './key-views.js';
import { typeNumbers } from './type-numbers.js';

/** Their names, which the views list too. */
const viewNames = ['schemata', 'tables', 'columns', 'views', ...keyViews.map(({ name }) => name)];

const schemata = informationView<SchemaItem>({
  name: 'schemata',
  columns: [
    textColumn('catalog_name', ({ catalog }) => catalog),
    textColumn('schema_name', ({ schema }) => schema),
    textColumn('schema_owner', () => null),
    textColumn('default_character_set_catalog', () => null),
    textColumn('default_character_set_schema', () => null),
    textColumn('default_character_set_name', () => null),
    textColumn('sql_path', () => null),
  ],
  items: listSchemas,
});

/** Without comments: they are in each table's metadata, and this view is asked for whole. */
const tables = informationView<RelationItem>({
  name: 'tables',
  columns: [
    textColumn('table_catalog', ({ catalog }) => catalog),
    textColumn('table_schema', ({ schema }) => schema),
    textColumn('table_name', ({ table }) => table),
    textColumn('table_type', ({ kind }) => (kind === 'table' ? 'BASE TABLE' : 'VIEW')),
    textColumn('self_referencing_column_name', () => null),
    textColumn('reference_generation', () => null),
    textColumn('user_defined_type_catalog', () => null),
    textColumn('user_defined_type_schema', () => null),
    textColumn('user_defined_type_name', () => null),
    textColumn('is_insertable_into', ({ kind }) => (kind === 'table' ? 'YES' : 'NO')),
    textColumn('is_typed', () => 'NO'),
    textColumn('commit_action', () => null),
  ],
  items: (options) => listRelationItems(options, viewNames),
});

interface ColumnItem extends RelationItem {
  readonly field: NestedField;
  readonly position: number;
}

const columns = informationView<ColumnItem>({
  name: 'columns',
  columns: [
    textColumn('table_catalog', ({ catalog }) => catalog),
    textColumn('table_schema', ({ schema }) => schema),
    textColumn('table_name', ({ table }) => table),
    textColumn('column_name', ({ field }) => field.name),
    numberColumn('ordinal_position', ({ position }) => position),
    textColumn('column_default', () => null),
    textColumn('is_nullable', ({ field }) => (field.required ? 'NO' : 'YES')),
    textColumn('data_type', ({ field: { type } }) =>
      type.kind === 'unsupported' ? type.text : engineType(type),
    ),
    numberColumn('character_maximum_length', () => null),
    numberColumn('character_octet_length', () => null),
    numberColumn('numeric_precision', ({ field }) => typeNumbers(field.type).precision),
    numberColumn('numeric_precision_radix', ({ field }) => typeNumbers(field.type).radix),
    numberColumn('numeric_scale', ({ field }) => typeNumbers(field.type).scale),
    numberColumn('datetime_precision', ({ field }) => typeNumbers(field.type).datetime),
    textColumn('column_comment', ({ field }) => field.doc ?? null),
  ],
  async items(options) {
    const items = await listRelationItems(options, viewNames);
    const described = await describeEach(items, options);
    return items.flatMap((item, index) =>
      (described[index]?.fields ?? []).map((field, at) => ({ ...item, field, position: at + 1 })),
    );
  },
});

interface ViewItem extends RelationItem {
  readonly definition: string | null;
}

const views = informationView<ViewItem>({
  name: 'views',
  columns: [
    textColumn('table_catalog', ({ catalog }) => catalog),
    textColumn('table_schema', ({ schema }) => schema),
    textColumn('table_name', ({ table }) => table),
    textColumn('view_definition', ({ definition }) => definition),
    textColumn('check_option', () => 'NONE'),
    textColumn('is_updatable', () => 'NO'),
    textColumn('is_insertable_into', () => 'NO'),
  ],
  async items(options) {
    const items = (await listRelationItems(options, viewNames)).filter(({ kind }) => kind === 'view');
    if (!reads(options.request, ['view_definition']))
      return items.map((item) => ({ ...item, definition: null }));
    const described = await describeEach(items, options);
    return items.map((item, index) => ({ ...item, definition: described[index]?.definition ?? null }));
  },
});

export const informationViews: readonly InformationView[] = [schemata, tables, columns, views, ...keyViews];

interface Description {
  readonly fields: readonly NestedField[];
  /** Of a view that is written in our dialect. */
  readonly definition?: string | undefined;
}

function describeEach(
  items: readonly RelationItem[],
  { catalogs, catalog, signal }: InformationRequest,
): Promise<readonly (Description | undefined)[]> {
  const loader = catalogs.get(catalog).catalog;
  return loadEach(items, signal, async ({ listed, table }) => {
    if (listed === undefined) return { fields: ownFields(table) };
    if (listed.kind === 'table') {
      const { metadata } = await loader.loadTable(listed.identifier, { signal });
      return { fields: schemaById(metadata, undefined).fields };
    }
    const { metadata } = await loader.loadView(listed.identifier, { signal });
    return {
      fields: metadata.schema.fields,
      definition: sqlOfView(metadata, viewDialect),
    };
  });
}

function ownFields(view: string): readonly NestedField[] {
  return informationViews.find(({ name }) => name === view)?.fields ?? [];
}
