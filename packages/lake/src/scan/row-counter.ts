/**
 * Counts rows that need not be read: all that the statement wants to know of them is how many there are, and of some
 * columns the least and the greatest value. They become rows that the engine makes itself, with values that pass the
 * statement's filters, so that it answers the same whatever it computes of them.
 */
import type { ColumnSummary } from '../iceberg/expressions/column-predicate.js';
import { printJsonValue } from '../iceberg/spec/json-value.js';
import type { NestedField, PrimitiveType } from '../iceberg/spec/types.js';
import { type Comparable, compareValues, type PrimitiveValue } from '../iceberg/spec/values.js';
import { plainJson } from './plain-json.js';
import { type BoundUse, factsOfField, type RowFacts, type TypedField } from './row-use.js';
import type { CountedRows } from './table-scan.js';

interface Range {
  readonly low: Comparable;
  readonly high: Comparable;
}

export class RowCounter {
  readonly #use: BoundUse;
  readonly #extremes: readonly TypedField[];
  #rowCount = 0;
  /** By field id; a field that is not there was NULL in all rows. Undefined before the first row. */
  #values: Map<number, Range> | undefined;

  constructor(use: BoundUse) {
    this.#use = use;
    this.#extremes = use.rows.kind === 'extremes' ? use.rows.fields : [];
  }

  /**
   * Whether the rows are counted now, and so must not be read. All of the units or none: of a file that is read, the
   * engine may be given further row groups.
   */
  addAll(units: readonly RowFacts[]): boolean {
    if (this.#use.rows.kind !== 'extremes' || !units.every((unit) => unit.isKeptWhole)) return false;
    let values = this.#values;
    for (const unit of units) {
      // Without extremes one row is as good as another: those of the first unit stand for all.
      if (values !== undefined && this.#extremes.length === 0) break;
      const ranges = this.#rangesOf(unit);
      if (ranges === undefined) return false;
      values = values === undefined ? ranges : merged(values, ranges);
    }
    this.#values = values;
    this.#rowCount += units.reduce((sum, { rowCount }) => sum + rowCount, 0);
    return true;
  }

  /** `columns` are all of the table's; undefined when nothing was counted. */
  counted(columns: readonly NestedField[]): CountedRows | undefined {
    const values = this.#values;
    if (values === undefined || this.#rowCount === 0) return undefined;
    const types = new Map(this.#use.fields.map(({ id, type }) => [id, type]));
    const side = (pick: (range: Range) => Comparable) =>
      columns.map(({ id, type }) => {
        const [range, known] = [values.get(id), types.get(id)];
        const value =
          range && known && plainJson(printJsonValue(known, toPrimitive(known, pick(range)) ?? null));
        return { kind: 'constant' as const, value: value ?? null, type };
      });
    return { rowCount: this.#rowCount, low: side(({ low }) => low), high: side(({ high }) => high) };
  }

  /** Undefined when the rows cannot be made from what is known of them. */
  #rangesOf(unit: RowFacts): Map<number, Range> | undefined {
    const ranges = new Map<number, Range>();
    for (const field of this.#use.filtered) {
      const range = witness(field.type, factsOfField(this.#use, unit, field)?.summary);
      if (range === undefined) return undefined;
      if (range !== 'null') ranges.set(field.id, range);
    }
    for (const field of this.#extremes) {
      const { id, type } = field;
      const facts = factsOfField(this.#use, unit, field);
      if (facts === undefined) return undefined;
      if (!facts.summary.mayHaveValue) continue;
      const { lower, upper } = facts.summary;
      if (!facts.isExact || lower === undefined || upper === undefined) return undefined;
      if (!canBeWritten(type, lower) || !canBeWritten(type, upper)) return undefined;
      if (unit.rowCount < 2 && compareValues(lower, upper) !== 0) return undefined;
      ranges.set(id, { low: lower, high: upper });
    }
    return ranges;
  }
}

/** A value within the bounds: that the filters reject none of these is how the rows came to be counted. */
function witness(type: PrimitiveType, summary: ColumnSummary | undefined): Range | 'null' | undefined {
  if (summary === undefined) return undefined;
  if (!summary.mayHaveValue) return 'null';
  const value = [summary.lower, summary.upper].find(
    (bound) => bound !== undefined && canBeWritten(type, bound),
  );
  return value === undefined ? undefined : { low: value, high: value };
}

function merged(a: ReadonlyMap<number, Range>, b: ReadonlyMap<number, Range>): Map<number, Range> {
  const result = new Map(a);
  for (const [id, range] of b) {
    const known = result.get(id);
    if (known === undefined) result.set(id, range);
    else
      result.set(id, {
        low: compareValues(range.low, known.low) < 0 ? range.low : known.low,
        high: compareValues(range.high, known.high) > 0 ? range.high : known.high,
      });
  }
  return result;
}

function canBeWritten(type: PrimitiveType, value: Comparable): boolean {
  return toPrimitive(type, value) !== undefined;
}

/** The first and the last day of the years that all readers of dates agree on how to write. */
const firstDay = -719_162n;
const lastDay = 2_932_896n;
const dayMicros = 86_400_000_000n;

/** Undefined where the engine might not read the value back from its text. */
function toPrimitive(type: PrimitiveType, value: Comparable): PrimitiveValue | undefined {
  if (typeof value === 'object') return type.kind === 'string' ? decodeText(value) : undefined;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
  const whole = BigInt(value);
  switch (type.kind) {
    case 'boolean':
      return whole !== 0n;
    case 'int':
      return BigInt.asIntN(32, whole) === whole ? Number(whole) : undefined;
    case 'long':
      return BigInt.asIntN(64, whole) === whole ? whole : undefined;
    case 'decimal':
      return whole < 10n ** BigInt(type.precision) && whole > -(10n ** BigInt(type.precision))
        ? whole
        : undefined;
    case 'date':
      return whole >= firstDay && whole <= lastDay ? Number(whole) : undefined;
    case 'timestamp':
    case 'timestamptz':
      return whole >= firstDay * dayMicros && whole <= lastDay * dayMicros ? whole : undefined;
    default:
      return undefined;
  }
}

/** Text of a statement ends at a zero. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
