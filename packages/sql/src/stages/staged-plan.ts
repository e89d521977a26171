/** A statement in stages: SQL texts of which each reads scans of tables and the rows of stages before it. */
import type { PlannedScan } from '../scan/scan-requests.js';

/** Catalog and schema under which the texts of stages name scans and stages, by `name`. */
export const stageNamespace = { catalog: 'svc_stages', schema: 'main' } as const;

/** A column of a stage: `type` is SQL of the engine. */
export interface StageColumn {
  readonly name: string;
  readonly type: string;
}

/** A scan of the plan. One table may be scanned several times, with other columns and filters. */
export interface StageScan extends PlannedScan {
  readonly name: string;
}

export interface Stage {
  readonly name: string;
  /** One SELECT; all names in it are of three parts and quoted. */
  readonly sql: string;
  readonly columns: readonly StageColumn[];
  /** The scan that is divided: the text is run for each split, and the stage's rows are those of all, in any order. */
  readonly split: string | undefined;
  /** Scans that it reads whole, by name. */
  readonly scans: readonly string[];
  /** Earlier stages whose rows it reads, all of them in every run. */
  readonly inputs: readonly string[];
  /** Where it reads what policies hide behind barriers. */
  readonly guard?: StageGuard;
}

export interface StageGuard {
  /** Barriers that its rows have yet to pass, in stages behind it: until then all that is computed of them is the policies'. */
  readonly level: number;
  /** By scan and stage that it reads: the barriers that its rows have to pass. */
  readonly reads: ReadonlyMap<string, number>;
  /** The barriers in it by their levels below, each a text with what stands below it. */
  readonly barriers: readonly { readonly level: number; readonly sql: string }[];
}

export interface StagedPlan {
  readonly scans: readonly StageScan[];
  /** Each behind those that it reads. The last one answers the statement, in its order. */
  readonly stages: readonly Stage[];
}
