import { hash } from 'node:crypto';
import type { Logger } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import type { FragmentLimits } from '@svc/fragment-fn';
import type { KeyPruning, MetadataFiles, ObjectStore, TableScan, WritableCatalog } from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { FileRelations } from '../files/file-relations.js';
import type { Session } from '../identity/session.js';
import type { PolicyEnforcer } from '../policy/policy-enforcer.js';
import { wholeStamp } from '../policy/policy-stamp.js';
import type { PolicyTexts } from '../policy/policy-texts.js';
import type { Executors } from '../scheduler/executors.js';
import type { Analyzer } from './analyze.js';
import type { IcebergSource, ResolvedTable } from './resolve-tables.js';
import type { StubPlanCache } from './stub-plan-cache.js';

export interface PlannerDependencies {
  readonly pool: EnginePool;
  /** As the session's user sees them: nothing is asked of a catalog in another way. */
  catalogsOf(session: Session): CatalogDirectory;
  /** The same for statements that change something, which are never answered from a session's context. */
  catalogsToChange(session: Session): CatalogDirectory<WritableCatalog>;
  /** Reads the manifests that metadata tables show. */
  readonly metadataFiles: MetadataFiles;
  readonly plans: StubPlanCache;
  readonly analyzer: Analyzer;
  readonly limits: FragmentLimits;
  readonly now: () => Date;
  /** Absent: nobody's rows are hidden, as in the command line. */
  readonly policies?: PolicyApplication | undefined;
  /** Absent: statements run here. */
  readonly distribution?: DistributionRules | undefined;
  /** Only the command line reads files that a statement names. */
  readonly files?: FileRelations | undefined;
  /** Prunes: manifests, files, row groups. */
  planScan(
    table: ResolvedTable & { readonly source: IcebergSource },
    request: ScanRequest,
    signal: AbortSignal,
  ): Promise<TableScan>;
  /** Whether keys of a column could leave out parts of a planned scan. */
  keyPruning(
    scan: TableScan,
    column: string,
    store: ObjectStore,
    signal: AbortSignal,
  ): Promise<KeyPruning | undefined>;
}

/** What decides on where statements run. */
export interface DistributionRules {
  readonly executors: Executors;
  readonly distributeBytes: number;
  readonly lambdaBytes: number;
  readonly broadcastBytes: number;
}

/** What applies policies to statements. */
export interface PolicyApplication {
  readonly enforcer: PolicyEnforcer;
  readonly texts: PolicyTexts;
  readonly logger: Logger;
}

/** Whose engine instance a statement may run in: other policies or roles get another one. */
export function ownerOf(session: Session, policies: PolicyApplication | undefined): string {
  const { username } = session.identity;
  if (policies === undefined) return username;
  const stamp = JSON.stringify(wholeStamp(policies.enforcer, session));
  return `${username} ${hash('sha256', stamp, 'hex').slice(0, 16)}`;
}
