/** Catalogs as far as policies let their user change what is in them. Rows that are added are looked at elsewhere (`insert-rules`). */
import type { TableIdentifier, WritableCatalog } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { schemaName } from '../planner/names.js';
import { withoutNeighbours } from './permitted-catalogs.js';
import type { PolicyTarget, Privilege } from './policy.js';
import { denied, type PolicyEnforcer } from './policy-enforcer.js';
import { viewSecurityProperty } from './view-security.js';

/**
 * Making, replacing and dropping throw PERMISSION_DENIED: who may add rows may make a table, who may delete them drop it; what has
 * policies is made, replaced and dropped by admins only, for a table without them would take its place.
 */
export function changeableCatalogs(
  catalogs: CatalogDirectory<WritableCatalog>,
  enforcer: PolicyEnforcer,
  session: Session,
): CatalogDirectory<WritableCatalog> {
  return {
    names: catalogs.names,
    get(wanted) {
      const { name, catalog } = catalogs.get(wanted);
      const permit = (identifier: TableIdentifier, privilege: Privilege): void =>
        permitChange(enforcer, session, targetOf(name, identifier), privilege);
      const permitView = (
        identifier: TableIdentifier,
        definition: Parameters<WritableCatalog['createView']>[1],
      ): void => {
        permit(identifier, 'INSERT');
        const isOfDefiner = Object.keys(definition.properties ?? {}).some(
          (key) => key.toLowerCase() === viewSecurityProperty,
        );
        // Its readers see what it names without their policies.
        if (isOfDefiner && !enforcer.isAdmin(enforcer.identityOf(session)))
          throw denied(targetOf(name, identifier), 'DELETE');
      };
      const told = (error: unknown) => withoutNeighbours(error, enforcer);
      return { name, catalog: changeable(catalog, permit, permitView, told) };
    },
  };
}

function changeable(
  catalog: WritableCatalog,
  permit: (identifier: TableIdentifier, privilege: Privilege) => void,
  permitView: (identifier: TableIdentifier, definition: Parameters<WritableCatalog['createView']>[1]) => void,
  told: (error: unknown) => unknown,
): WritableCatalog {
  const loading = async <T>(load: Promise<T>): Promise<T> =>
    await load.catch((error: unknown) => {
      throw told(error);
    });
  return {
    ...catalog,
    loadTable: (identifier, call) => loading(catalog.loadTable(identifier, call)),
    loadView: (identifier, call) => loading(catalog.loadView(identifier, call)),
    async stageTable(identifier, definition, call) {
      permit(identifier, 'INSERT');
      return await catalog.stageTable(identifier, definition, call);
    },
    async createTable(identifier, definition, call) {
      permit(identifier, 'INSERT');
      return await catalog.createTable(identifier, definition, call);
    },
    async dropTable(identifier, call) {
      permit(identifier, 'DELETE');
      await catalog.dropTable(identifier, call);
    },
    async createView(identifier, definition, call) {
      permitView(identifier, definition);
      return await catalog.createView(identifier, definition, call);
    },
    async replaceView(identifier, definition, call) {
      permitView(identifier, definition);
      permit(identifier, 'DELETE');
      const { metadata } = await catalog.loadView(identifier, call);
      if (metadata.properties.has(viewSecurityProperty))
        permitView(identifier, { ...definition, properties: { [viewSecurityProperty]: '' } });
      return await catalog.replaceView(identifier, definition, call);
    },
    async dropView(identifier, call) {
      permit(identifier, 'DELETE');
      await catalog.dropView(identifier, call);
    },
  };
}

/** Throws PERMISSION_DENIED. An admin, who could change the rules, may. */
export function permitChange(
  enforcer: PolicyEnforcer,
  session: Session,
  target: Required<PolicyTarget>,
  privilege: Privilege,
): void {
  const identity = enforcer.identityOf(session);
  if (enforcer.isAdmin(identity)) return;
  if (enforcer.decide(identity, target, privilege).kind !== 'unrestricted') throw denied(target, privilege);
}

export function targetOf(catalog: string, { namespace, name }: TableIdentifier): Required<PolicyTarget> {
  return { catalog, schema: schemaName(namespace), table: name };
}
