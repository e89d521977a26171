/** Catalogs as far as policies let their user change what is in them. Rows that are added are looked at elsewhere (`insert-rules`). */
import type { TableIdentifier, WritableCatalog } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { schemaName } from '../planner/names.js';
import { toldTo } from './permitted-catalogs.js';
import type { PolicyTarget, Privilege } from './policy.js';
import { denied, type PolicyEnforcer, targetOf } from './policy-enforcer.js';
import { viewSecurityProperty } from './view-security.js';

/**
 * Making, replacing and dropping throw PERMISSION_DENIED: who may add rows may make a table, who may delete them drop it, and the
 * same privileges on a schema are for making and dropping it; what has policies is replaced and dropped by admins only, for a table
 * without them would take its place.
 */
export function changeableCatalogs(
  catalogs: CatalogDirectory<WritableCatalog>,
  enforcer: PolicyEnforcer,
  session: Session,
): CatalogDirectory<WritableCatalog> {
  const identity = enforcer.identityOf(session);
  return {
    names: catalogs.names,
    get(wanted) {
      const { name, catalog } = catalogs.get(wanted);
      const changes: Changes = {
        targetOf: (identifier) => targetOf(name, identifier),
        schemaOf: (namespace) => ({ catalog: name, schema: schemaName(namespace) }),
        permit: (target, privilege) => permitChange(enforcer, session, target, privilege),
        permitMaking(target) {
          if (enforcer.isAdmin(identity)) return;
          const decision = enforcer.decide(identity, target, 'INSERT');
          if (decision.kind === 'refused') throw denied(target, 'INSERT', decision.reason);
        },
        permitDefiner(target) {
          if (!enforcer.isAdmin(identity)) throw denied(target, 'DELETE');
        },
        told: (answer) => toldTo(answer, enforcer, identity),
      };
      return { name, catalog: changeable(catalog, changes) };
    },
  };
}

interface Changes {
  targetOf(identifier: TableIdentifier): Required<PolicyTarget>;
  schemaOf(namespace: readonly string[]): PolicyTarget;
  /** Of what is there, and has no policies. */
  permit(target: PolicyTarget, privilege: Privilege): void;
  /** Of what is not there: its policies hold for it as soon as it is, and its rows are checked as those that are added. */
  permitMaking(target: PolicyTarget): void;
  /** Readers of a definer's view see what it names without their policies. */
  permitDefiner(target: Required<PolicyTarget>): void;
  /** Of a failure, what may be told. */
  told<T>(answer: Promise<T>): Promise<T>;
}

function changeable(catalog: WritableCatalog, changes: Changes): WritableCatalog {
  const { told } = changes;
  return {
    ...catalog,
    ...changeableViews(catalog, changes),
    loadTable: (identifier, call) => told(catalog.loadTable(identifier, call)),
    async createNamespace(namespace, call) {
      changes.permitMaking(changes.schemaOf(namespace));
      await told(catalog.createNamespace(namespace, call));
    },
    async dropNamespace(namespace, call) {
      changes.permit(changes.schemaOf(namespace), 'DELETE');
      await told(catalog.dropNamespace(namespace, call));
    },
    async stageTable(identifier, definition, call) {
      changes.permitMaking(changes.targetOf(identifier));
      return await told(catalog.stageTable(identifier, definition, call));
    },
    async createTable(identifier, definition, call) {
      changes.permitMaking(changes.targetOf(identifier));
      return await told(catalog.createTable(identifier, definition, call));
    },
    async dropTable(identifier, call) {
      changes.permit(changes.targetOf(identifier), 'DELETE');
      await told(catalog.dropTable(identifier, call));
    },
  };
}

/** What a view shows is nobody's to check: where policies hold for its name, admins make it. */
function changeableViews(
  catalog: WritableCatalog,
  { targetOf: target, permit, permitDefiner, told }: Changes,
): Pick<WritableCatalog, 'loadView' | 'createView' | 'replaceView' | 'dropView'> {
  return {
    loadView: (identifier, call) => told(catalog.loadView(identifier, call)),
    async createView(identifier, definition, call) {
      permit(target(identifier), 'INSERT');
      if (isOfDefiner(definition)) permitDefiner(target(identifier));
      return await told(catalog.createView(identifier, definition, call));
    },
    async replaceView(identifier, definition, call) {
      permit(target(identifier), 'INSERT');
      if (isOfDefiner(definition)) permitDefiner(target(identifier));
      permit(target(identifier), 'DELETE');
      const { metadata } = await told(catalog.loadView(identifier, call));
      if (metadata.properties.has(viewSecurityProperty)) permitDefiner(target(identifier));
      return await told(catalog.replaceView(identifier, definition, call));
    },
    async dropView(identifier, call) {
      permit(target(identifier), 'DELETE');
      await told(catalog.dropView(identifier, call));
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
  target: PolicyTarget,
  privilege: Privilege,
): void {
  const identity = enforcer.identityOf(session);
  if (enforcer.isAdmin(identity)) return;
  const decision = enforcer.decide(identity, target, privilege);
  if (decision.kind === 'refused') throw denied(target, privilege, decision.reason);
  if (decision.kind !== 'unrestricted') throw denied(target, privilege);
}
