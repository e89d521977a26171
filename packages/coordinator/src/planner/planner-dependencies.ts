import type { EnginePool } from '@svc/engine';
import type { FragmentLimits } from '@svc/fragment-fn';
import type { TableScan } from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import type { FileRelations } from '../files/file-relations.js';
import type { Session } from '../identity/session.js';
import type { Analyzer } from './analyze.js';
import type { CatalogDirectory } from './catalog-directory.js';
import type { IcebergSource, ResolvedTable } from './resolve-tables.js';
import type { StubPlanCache } from './stub-plan-cache.js';

export interface PlannerDependencies {
  readonly pool: EnginePool;
  readonly catalogs: CatalogDirectory;
  readonly plans: StubPlanCache;
  readonly analyzer: Analyzer;
  readonly limits: FragmentLimits;
  readonly now: () => Date;
  /** Only the command line reads files that a statement names. */
  readonly files?: FileRelations | undefined;
  /** Prunes: manifests, files, row groups. */
  planScan(
    table: ResolvedTable & { readonly source: IcebergSource },
    request: ScanRequest,
    signal: AbortSignal,
  ): Promise<TableScan>;
}

/** Whose engine instance a statement may run in. */
export function ownerOf(session: Session): string {
  return session.identity.username;
}
