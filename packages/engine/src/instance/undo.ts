/**
 * How a statement of ours is undone, for those that every lease runs. Undoing them takes a fraction of a millisecond;
 * looking for whatever may have been left behind (reset.ts) takes several.
 */

const identifier = '"(?:[^"]|"")*"';
const attach = new RegExp(`^ATTACH ':memory:' AS (${identifier})$`);
const changeIn = new RegExp(
  `^(?:CREATE (?:SCHEMA IF NOT EXISTS|VIEW|TABLE)|DROP (?:VIEW|TABLE)) (${identifier})\\.`,
);
const temporaryMacro = /^CREATE OR REPLACE TEMPORARY MACRO ("?\w+"?)\(\) AS /;
const setting = /^SET (TimeZone|disabled_optimizers|preserve_insertion_order) = /;
/** Nothing that an instance keeps: a file in one of its folders. */
const harmless = /^COPY \(/;

/** Back into the instance's own database: another one can be removed then. */
export const goHome = 'USE memory.main';

/** The name in a SET of ours that can be undone by name. */
export function settingOf(sql: string): string | undefined {
  return setting.exec(sql)?.[1];
}

export class UndoList {
  readonly #attached = new Set<string>();
  readonly #macros = new Set<string>();
  readonly #settings = new Set<string>();
  #hasLeft = false;
  #isComplete = true;

  /** False once a statement ran whose traces this list does not know. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** To be called before the statement runs: what fails half-way is undone as well. */
  note(sql: string): void {
    const [, catalog] = attach.exec(sql) ?? [];
    const [, owner] = changeIn.exec(sql) ?? [];
    const [, macro] = temporaryMacro.exec(sql) ?? [];
    const name = settingOf(sql);
    if (catalog !== undefined) this.#attached.add(catalog);
    else if (macro !== undefined) this.#macros.add(macro);
    else if (name !== undefined) this.#settings.add(name);
    else if (sql.startsWith('USE ')) this.#hasLeft = true;
    else if (owner !== undefined && this.#attached.has(owner)) return;
    else if (!harmless.test(sql)) this.#isComplete = false;
  }

  /** As `note`, for rows that are appended to a table of this catalog. */
  noteRows(catalog: string | undefined): void {
    if (!this.#attached.has(`"${catalog?.replaceAll('"', '""')}"`)) this.#isComplete = false;
  }

  /** In the order in which they must run; `initial` has for settings the statements that set them as they were. */
  statements(initial: ReadonlyMap<string, string>): readonly string[] {
    return [
      ...(this.#hasLeft ? [goHome] : []),
      ...[...this.#attached].map((catalog) => `DETACH DATABASE IF EXISTS ${catalog}`),
      ...[...this.#macros].map((macro) => `DROP MACRO IF EXISTS temp.${macro}`),
      ...[...this.#settings].flatMap((name) => initial.get(name) ?? []),
    ];
  }
}
