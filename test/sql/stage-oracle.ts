/**
 * A statement's answer by itself and through its stages, side by side in one engine. Planning happens in another engine, on
 * stubs without rows, as the service does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  executionSettings,
  type PlanNode,
  PlanNotUnderstood,
  planSettingStatements,
  readPlan,
  type Stage,
  type StagedPlan,
  type StagePlanOptions,
  stagePlan,
  stubScan,
} from '@svc/sql';
import { openDuckDbParser, quoteText } from './duckdb-parser.js';

export interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Values as the engine writes them. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export type Staged =
  | { readonly kind: 'staged'; readonly plan: StagedPlan }
  /** To be run on one node. */
  | { readonly kind: 'whole'; readonly reason: string };

export interface RunOptions {
  /** How many parts the divided scan of a stage is in; one more has no rows. */
  readonly splits: number;
}

export interface StageOracle {
  execute(sql: string): void;
  /** By itself; what is run after it is run with the same settings. */
  answer(sql: string): Answer;
  /** Of a query's answer. */
  rowCount(sql: string): number;
  stage(sql: string, options?: Partial<Omit<StagePlanOptions, 'names'>>): Staged;
  run(plan: StagedPlan, options: RunOptions): Answer;
  planText(sql: string): string;
  tableOf(stubFile: string): string;
  close(): void;
}

export function openStageOracle(
  statements: readonly string[],
  tables: readonly string[],
  /** What the planner is told, where that is not the truth. */
  rowCounts: Readonly<Record<string, number>> = {},
  /** Over the tables, run where rows are and where they are not. */
  views: readonly string[] = [],
): StageOracle {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-stages-'));
  const data = openDuckDbParser();
  const planner = openDuckDbParser();
  for (const statement of ["ATTACH ':memory:' AS svc_stages", 'SET threads = 1', ...statements])
    data.execute(statement);
  for (const table of tables) {
    const file = path.join(folder, `${table}.parquet`);
    data.execute(`COPY (SELECT * FROM ${table} LIMIT 0) TO ${quoteText(file)} (FORMAT parquet)`);
    const count = BigInt(rowCounts[table] ?? data.query(`SELECT count(*)::VARCHAR FROM ${table}`));
    planner.execute(`CREATE VIEW ${table} AS SELECT * FROM ${stubScan(file, count)}`);
  }
  for (const view of views) for (const engine of [data, planner]) engine.execute(view);
  for (const statement of ['SET threads = 1', ...planSettingStatements]) planner.execute(statement);

  const planText = (sql: string): string =>
    planner.query(`SELECT json_serialize_plan(${quoteText(sql)}::VARCHAR, optimize := true)`);

  const described = (sql: string): Answer['columns'] =>
    JSON.parse(
      data.query(
        `SELECT to_json(list({name: column_name, type: column_type}))::VARCHAR FROM (DESCRIBE ${sql})`,
      ),
    ) as Answer['columns'];

  /** As the service does before it runs the statement, or a stage of it. */
  const useSettings = (sql: string): void => {
    let plan: PlanNode | undefined;
    try {
      plan = readPlan(planText(sql));
    } catch {
      // A plan that is not understood has settings of its own.
    }
    const fresh = ['RESET disabled_optimizers', 'RESET preserve_insertion_order'];
    for (const statement of [...fresh, ...executionSettings(plan)]) data.execute(statement);
  };

  const answerOf = (sql: string): Answer => {
    const columns = described(sql);
    const names = columns.map((_column, index) => `x${index}`);
    data.execute(`CREATE OR REPLACE TEMP TABLE answer AS SELECT * FROM (${sql}) AS a(${names.join(', ')})`);
    const values = names.map((name) => `${name}::VARCHAR`).join(', ');
    const rows = data.query(
      `SELECT coalesce(to_json(list([${values}] ORDER BY rowid)), '[]')::VARCHAR FROM answer`,
    );
    return { columns, rows: JSON.parse(rows) as Answer['rows'] };
  };

  const runStage = (stage: Stage, plan: StagedPlan, splits: number): void => {
    const target = `svc_stages.main."${stage.name}"`;
    const parts = stage.split === undefined ? [undefined] : [...Array(splits + 1).keys()];
    parts.forEach((part, index) => {
      for (const name of [...stage.scans, ...(stage.split === undefined ? [] : [stage.split])]) {
        const scan = plan.scans.find((each) => each.name === name);
        if (scan === undefined) throw new Error(`no scan ${name}`);
        const isSplit = name === stage.split;
        const where = isSplit ? ` WHERE (rowid // 3) % ${splits} = ${part}` : '';
        data.execute(
          `CREATE OR REPLACE VIEW svc_stages.main."${name}" AS SELECT * FROM memory.main."${tableOf(scan.stubFile)}"${where}`,
        );
      }
      data.execute(
        index === 0
          ? `CREATE OR REPLACE TABLE ${target} AS ${stage.sql}`
          : `INSERT INTO ${target} ${stage.sql}`,
      );
    });
    checkColumns(stage, described(`FROM ${target}`));
  };

  return {
    execute: (sql) => data.execute(sql),
    answer: (sql) => {
      useSettings(sql);
      return answerOf(sql);
    },
    rowCount: (sql) => Number(data.query(`SELECT count(*)::VARCHAR FROM (${sql}) AS a`)),
    planText,
    stage: (sql, options) => {
      const names = described(sql).map(({ name }) => name);
      const defaults = {
        bytesOf: () => 1000,
        mayBroadcastBytes: Number.POSITIVE_INFINITY,
        readWholeBytes: 0,
      };
      try {
        return {
          kind: 'staged',
          plan: stagePlan(readPlan(planText(sql)), { ...defaults, ...options, names }),
        };
      } catch (error) {
        if (error instanceof PlanNotUnderstood) return { kind: 'whole', reason: error.message };
        throw error;
      }
    },
    run: (plan, { splits }) => {
      const last = plan.stages.at(-1);
      if (last === undefined) throw new Error('a plan without stages');
      for (const stage of plan.stages.slice(0, -1)) runStage(stage, plan, splits);
      for (const name of last.scans) {
        const scan = plan.scans.find((each) => each.name === name);
        data.execute(
          `CREATE OR REPLACE VIEW svc_stages.main."${name}" AS SELECT * FROM memory.main."${tableOf(scan?.stubFile ?? '')}"`,
        );
      }
      const found = answerOf(last.sql);
      checkColumns(last, found.columns);
      return found;
    },
    tableOf,
    close: () => {
      data.close();
      planner.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The engine quotes fields of structs only where it must. */
function checkColumns({ name, columns }: Stage, found: Answer['columns']): void {
  const text = (each: Answer['columns']) =>
    JSON.stringify(each.map((column) => [column.name, column.type.replaceAll('"', '')]));
  if (text(found) !== text(columns)) throw new Error(`${name} has ${text(found)}, not ${text(columns)}`);
}

export function tableOf(stubFile: string): string {
  return path.basename(stubFile, '.parquet');
}

/** The first difference of two answers, in words; undefined when they are equal. Floats may differ by `tolerance`. */
export function differenceOf(
  expected: Answer,
  found: Answer,
  { isOrdered, tolerance = 1e-12 }: { readonly isOrdered: boolean; readonly tolerance?: number },
): string | undefined {
  if (JSON.stringify(expected.columns) !== JSON.stringify(found.columns))
    return `columns ${JSON.stringify(found.columns)}, not ${JSON.stringify(expected.columns)}`;
  if (expected.rows.length !== found.rows.length)
    return `${found.rows.length} rows, not ${expected.rows.length}`;
  const floats = expected.columns.map(({ type }) => type === 'DOUBLE' || type === 'FLOAT');
  const isEqual = (one: string | null | undefined, other: string | null | undefined, column: number) => {
    if (one === other) return true;
    if (one == null || other == null || floats[column] !== true) return false;
    const [a, b] = [Number(one), Number(other)];
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  };
  const [left, right] = isOrdered
    ? [expected.rows, found.rows]
    : [expected.rows, found.rows].map((rows) => sortRows(rows, floats));
  for (const [index, row] of (left ?? []).entries()) {
    const other = right?.[index] ?? [];
    if (!row.every((value, column) => isEqual(value, other[column], column)))
      return `row ${index} is ${JSON.stringify(other)}, not ${JSON.stringify(row)}`;
  }
  return undefined;
}

/** By exact columns first, so that floats that differ in the last digit do not reorder rows. */
function sortRows(rows: Answer['rows'], floats: readonly boolean[]): Answer['rows'] {
  const key = (row: readonly (string | null)[]) =>
    JSON.stringify([
      row.filter((_value, index) => floats[index] !== true),
      row
        .filter((_value, index) => floats[index] === true)
        .map((value) => (value === null ? null : Number(value).toPrecision(9))),
    ]);
  return [...rows]
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}
