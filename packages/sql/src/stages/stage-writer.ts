import type { LogicalType } from '../plan/logical-type.js';
import type { GetNode, PlanNode } from '../plan/plan-node.js';
import { NotPrintable } from '../print/not-printable.js';
import { type PrintNames, printPlan } from '../print/print-plan.js';
import { printType } from '../print/print-value.js';
import { columnName, type Relation } from '../print/relation.js';
import type { PlannedScan } from '../scan/scan-requests.js';
import { quoteIdentifier } from '../text/literals.js';
import { createHiddenRows, type LevelOfScan } from './hidden-rows.js';
import { getsOf, stagesReadBy } from './plan-facts.js';
import {
  type Stage,
  type StageColumn,
  type StagedPlan,
  type StageGuard,
  stageNamespace,
} from './staged-plan.js';

export interface StageWriter {
  /** Answers what stands for the stage's rows in the plan above. */
  add(node: PlanNode, split: GetNode | undefined): PlanNode;
  /** The plan whose last stage is `node`, with its columns under these names. */
  finish(node: PlanNode, names: readonly string[]): StagedPlan;
}

const placeholder: LogicalType = { kind: 'plain', id: 'INTEGER' };

export function createStageWriter(
  scans: ReadonlyMap<GetNode, PlannedScan>,
  levelOfScan: LevelOfScan,
): StageWriter {
  const hidden = createHiddenRows(levelOfScan);
  const scanNames = new Map([...scans.keys()].map((get, index) => [get, `scan_${index + 1}`]));
  const nameOf = (get: GetNode) => {
    const name = scanNames.get(get);
    if (name === undefined) throw new NotPrintable(`the table function ${get.functionName}`);
    return name;
  };
  const names: PrintNames = { scan: (get) => tableName(nameOf(get)), stage: tableName };
  const stages: Stage[] = [];

  const guardOf = (
    node: PlanNode,
    gets: readonly GetNode[],
    inputs: readonly string[],
  ): StageGuard | undefined => {
    const levels: readonly (readonly [string, number])[] = [
      ...gets.map((get) => [nameOf(get), levelOfScan(get)] as const),
      ...inputs.map(
        (name) => [name, stages.find((stage) => stage.name === name)?.guard?.level ?? 0] as const,
      ),
    ];
    const reads = new Map(levels.filter(([, level]) => level > 0));
    if (reads.size === 0) return undefined;
    const barriers = hidden.barriersOf(node).map(({ barrier, level }) => ({
      level,
      sql: printPlan(barrier, names).sql,
    }));
    return { level: hidden.levelOf(node), reads, barriers };
  };

  const write = (
    node: PlanNode,
    split: GetNode | undefined,
    columnNames?: readonly string[],
  ): StageOutput => {
    const relation = printPlan(node, names);
    if (columnNames !== undefined && columnNames.length !== relation.types.length)
      throw new NotPrintable('an answer with other columns than its plan');
    const name = columnNames === undefined ? `stage_${stages.length + 1}` : 'answer';
    const columns = stageColumns(relation, columnNames);
    const gets = [...new Set(getsOf(node))];
    const read = gets.filter((get) => get !== split);
    const inputs = [...new Set(stagesReadBy(node))];
    const guard = guardOf(node, gets, inputs);
    hidden.define(name, guard?.level ?? 0);
    stages.push({
      name,
      sql: stageSql(relation, columns),
      columns,
      split: split && nameOf(split),
      scans: read.map(nameOf),
      inputs,
      ...(guard !== undefined && { guard }),
    });
    return { name, relation };
  };

  return {
    add: (node, split) => {
      const { name, relation } = write(node, split);
      return { kind: 'stage-read', stage: name, types: relation.types.map((type) => type ?? placeholder) };
    },
    finish: (node, columnNames) => {
      if (!stages.some(({ split }) => split !== undefined))
        throw new NotPrintable('nothing that is worth dividing');
      if (hidden.levelOf(node) > 0) throw new NotPrintable('an answer that a policy has yet to look at');
      write(node, undefined, columnNames);
      const used = new Set(
        stages.flatMap(({ scans: read, split }) => (split === undefined ? read : [split, ...read])),
      );
      const named = [...scans].map(([get, { stubFile, request }]) => ({
        name: nameOf(get),
        stubFile,
        // What the statement makes of a scan's rows is said of all its rows, not of those of a part.
        request: { columns: request.columns, filters: request.filters },
      }));
      return { scans: named.filter(({ name }) => used.has(name)), stages };
    },
  };
}

interface StageOutput {
  readonly name: string;
  readonly relation: Relation;
}

function tableName(name: string): string {
  return [stageNamespace.catalog, stageNamespace.schema, name].map(quoteIdentifier).join('.');
}

/** A stage has a column even where nobody looks at any: its rows are counted. */
function stageColumns({ types }: Relation, names: readonly string[] | undefined): readonly StageColumn[] {
  if (types.length === 0) return [{ name: 'nothing', type: 'INTEGER' }];
  return types.map((type, index) => ({
    name: names?.[index] ?? columnName(index),
    type: printType(type ?? placeholder),
  }));
}

/** Types are spelled once more: what the stage hands on is what its columns say. */
function stageSql({ sql, types }: Relation, columns: readonly StageColumn[]): string {
  if (types.length === 0) return sql;
  const list = columns.map(
    ({ name, type }, index) => `CAST(r.${columnName(index)} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
  return `SELECT ${list.join(', ')} FROM (${sql}) AS r`;
}
