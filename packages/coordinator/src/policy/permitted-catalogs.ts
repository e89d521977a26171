/** Catalogs as far as policies let their user see: what he may not read is not loaded, and what he may not list is not named. */
import { type ErrorCode, QueryError } from '@svc/base';
import type { TableIdentifier } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import type { TableDecision } from './policy.js';
import { denied, type PolicyEnforcer, targetOf } from './policy-enforcer.js';

export interface CatalogsOfSessions {
  catalogsOf(session: Session): CatalogDirectory;
  readonly policies?: { readonly enforcer: PolicyEnforcer } | undefined;
}

/** The catalogs of a session to name and describe what is in them. */
export function readableCatalogs(
  { catalogsOf, policies }: CatalogsOfSessions,
  session: Session,
): CatalogDirectory {
  const catalogs = catalogsOf(session);
  return policies === undefined ? catalogs : permittedCatalogs(catalogs, policies.enforcer, session);
}

/** Loading throws PERMISSION_DENIED for a table or view that is there and may not be read. */
export function permittedCatalogs(
  catalogs: CatalogDirectory,
  enforcer: PolicyEnforcer,
  session: Session,
): CatalogDirectory {
  const identity = enforcer.identityOf(session);
  return {
    names: catalogs.names,
    get(wanted) {
      const { name, catalog } = catalogs.get(wanted);
      const loading = async <T extends { readonly identifier: TableIdentifier }>(
        load: Promise<T>,
        restrictionsOf?: (loaded: T) => TableDecision | undefined,
      ): Promise<T> => {
        const loaded = await load.catch((error: unknown) => {
          throw withoutNeighbours(error, enforcer);
        });
        const target = targetOf(name, loaded.identifier);
        const isRefused =
          enforcer.decide(identity, target, 'SELECT').kind === 'refused' ||
          restrictionsOf?.(loaded)?.kind === 'refused';
        if (isRefused) throw denied(target, 'SELECT');
        return loaded;
      };
      return {
        name,
        catalog: {
          ...catalog,
          async listRelations(namespace, options) {
            const relations = await catalog.listRelations(namespace, options);
            return relations.filter(({ identifier }) =>
              enforcer.mayList(identity, targetOf(name, identifier)),
            );
          },
          loadView: (identifier, options) => loading(catalog.loadView(identifier, options)),
          loadTable: (identifier, options) =>
            loading(catalog.loadTable(identifier, options), (loaded) => enforcer.restrictionsOf?.(loaded)),
        },
      };
    },
  };
}

/** What messages say before they name tables, of which some may not be listed. */
const saidBeforeNames: Partial<Record<ErrorCode, string>> = {
  TABLE_NOT_FOUND: ' does not exist',
  SCHEMA_NOT_EMPTY: ' is not empty',
};

/** A name that is not there is answered with names that are like it: of tables that may not be listed, perhaps. */
export function withoutNeighbours(error: unknown, enforcer: PolicyEnforcer): unknown {
  if (!enforcer.mayHideNames()) return error;
  if (!(error instanceof QueryError)) return error;
  const said = saidBeforeNames[error.code];
  const at = said === undefined ? -1 : error.message.indexOf(said);
  if (said === undefined || at === -1) return error;
  return new QueryError(error.code, `${error.message.slice(0, at)}${said}.`, { cause: error });
}
