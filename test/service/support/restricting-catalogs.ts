/** A catalog that demands of readers what a test says, as Iceberg's REST specification has it: the folder's own demands nothing. */
import type { CatalogFactory, LoadedTable, ReadRestrictions } from '@svc/lake';

export interface Demand {
  readonly rowFilter?: ReadRestrictions['rowFilter'];
  /** By field id, or by the name that a column has in the newest schema that has it. */
  readonly actions?: Readonly<Record<string, string>>;
}

/** `demands`: by table name; what it says is asked at each load. */
export function restrictingCatalogs(
  configured: CatalogFactory,
  demands: ReadonlyMap<string, Demand>,
): CatalogFactory {
  return {
    kind: configured.kind,
    open(caller) {
      const catalog = configured.open(caller);
      return {
        ...catalog,
        async loadTable(identifier, options) {
          const loaded = await catalog.loadTable(identifier, options);
          const demand = demands.get(loaded.identifier.name);
          return demand === undefined
            ? loaded
            : { ...loaded, readRestrictions: restrictionsOf(demand, loaded) };
        },
      };
    },
  };
}

/** The id of a column in the newest schema that has it. */
function fieldIdOf({ metadata }: Pick<LoadedTable, 'metadata'>, column: string): number {
  const newest = [...metadata.schemas].reverse().flatMap(({ fields }) => fields);
  return newest.find(({ name }) => name === column)?.id ?? Number(column);
}

function restrictionsOf({ rowFilter, actions = {} }: Demand, loaded: LoadedTable): ReadRestrictions {
  const columns = Object.entries(actions).map(([column, action]) => ({
    fieldId: fieldIdOf(loaded, column),
    action,
  }));
  return { rowFilter, columns };
}
