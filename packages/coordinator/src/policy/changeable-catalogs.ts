/** Catalogs as far as policies let their user change what is in them. Rows that are added are looked at elsewhere (`insert-rules`). */
import type { TableIdentifier, WritableCatalog } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { withoutNeighbours } from './permitted-catalogs.js';
import type { PolicyTarget, Privilege } from './policy.js';
import { denied, type PolicyEnforcer, targetOf } from './policy-enforcer.js';
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
      // Readers of a definer's view see what it names without their policies.
      const permitDefiner = (identifier: TableIdentifier): void => {
        if (!enforcer.isAdmin(enforcer.identityOf(session)))
          throw denied(targetOf(name, identifier), 'DELETE');
      };
      const told = (error: unknown) => withoutNeighbours(error, enforcer);
      return { name, catalog: changeable(catalog, { permit, permitDefiner, told }) };
    },
  };
}

interface Changes {
  permit(identifier: TableIdentifier, privilege: Privilege): void;
  permitDefiner(identifier: TableIdentifier): void;
  /** Of a failure, what may be told. */
  told(error: unknown): unknown;
}

function changeable(catalog: WritableCatalog, { permit, permitDefiner, told }: Changes): WritableCatalog {
  const loading = async <T>(load: Promise<T>): Promise<T> =>
    await load.catch((error: unknown) => {
      throw told(error);
    });
  return {
    ...catalog,
    loadTable: (identifier, call) => loading(catalog.loadTable(identifier, call)),
    loadView: (identifier, call) => loading(catalog.loadView(identifier, call)),
    dropNamespace: (namespace, call) => loading(catalog.dropNamespace(namespace, call)),
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
      permit(identifier, 'INSERT');
      if (isOfDefiner(definition)) permitDefiner(identifier);
      return await catalog.createView(identifier, definition, call);
    },
    async replaceView(identifier, definition, call) {
      permit(identifier, 'INSERT');
      if (isOfDefiner(definition)) permitDefiner(identifier);
      permit(identifier, 'DELETE');
      const { metadata } = await catalog.loadView(identifier, call);
      if (metadata.properties.has(viewSecurityProperty)) permitDefiner(identifier);
      return await catalog.replaceView(identifier, definition, call);
    },
    async dropView(identifier, call) {
      permit(identifier, 'DELETE');
      await catalog.dropView(identifier, call);
    },
  };
}

function isOfDefiner({ properties = {} }: Parameters<WritableCatalog['createView']>[1]): boolean {
  return Object.keys(properties).some((key) => key.toLowerCase() === viewSecurityProperty);
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
