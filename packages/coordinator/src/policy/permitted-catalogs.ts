/** Catalogs as far as policies let their user see: what he may not read is not loaded, and what he may not list is not named. */
import { QueryError } from '@svc/base';
import type { TableIdentifier } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { schemaName } from '../planner/names.js';
import type { PolicyIdentity, TableDecision } from './policy.js';
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
      const told = <T>(answer: Promise<T>) => toldTo(answer, enforcer, identity);
      const loading = async <T extends { readonly identifier: TableIdentifier }>(
        load: Promise<T>,
        restrictionsOf?: (loaded: T) => TableDecision | undefined,
      ): Promise<T> => {
        const loaded = await told(load);
        const target = targetOf(name, loaded.identifier);
        for (const decision of [enforcer.decide(identity, target, 'SELECT'), restrictionsOf?.(loaded)])
          if (decision?.kind === 'refused') throw denied(target, 'SELECT', decision.reason);
        return loaded;
      };
      return {
        name,
        catalog: {
          ...catalog,
          async listNamespaces(namespace, options) {
            const namespaces = await told(catalog.listNamespaces(namespace, options));
            return namespaces.filter((each) =>
              enforcer.mayList(identity, { catalog: name, schema: schemaName(each) }),
            );
          },
          async namespaceExists(namespace, options) {
            const isTold = enforcer.mayList(identity, { catalog: name, schema: schemaName(namespace) });
            return isTold && (await told(catalog.namespaceExists(namespace, options)));
          },
          async listRelations(namespace, options) {
            const relations = await told(catalog.listRelations(namespace, options));
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

/** What an error says behind these words names what is near, or in a schema: what may not be listed, perhaps. */
const namesFollow: ReadonlyMap<string, RegExp> = new Map([
  ['TABLE_NOT_FOUND', / does not exist/],
  ['SCHEMA_NOT_FOUND', / does not exist/],
  ['SCHEMA_NOT_EMPTY', / is not empty/],
]);

/** What a catalog answers; what it throws is without names that its user may not be told. */
export async function toldTo<T>(
  answer: Promise<T>,
  enforcer: PolicyEnforcer,
  identity: PolicyIdentity,
): Promise<T> {
  return await answer.catch((error: unknown) => {
    throw withoutNeighbours(error, enforcer, identity);
  });
}

function withoutNeighbours(error: unknown, enforcer: PolicyEnforcer, identity: PolicyIdentity): unknown {
  if (!(error instanceof QueryError) || !enforcer.mayHideNames(identity)) return error;
  const found = namesFollow.get(error.code)?.exec(error.message);
  if (found === null || found === undefined) return error;
  const text = error.message.slice(0, found.index + found[0].length);
  return new QueryError(error.code, `${text}.`, { cause: error });
}
