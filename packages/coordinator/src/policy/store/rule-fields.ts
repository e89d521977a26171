/** Reads the tables of a rules document. Whatever is not exactly as documented is an error that says where. */
import { QueryError } from '@svc/base';

export interface RuleFields {
  string(key: string): string;
  optionalString(key: string): string | undefined;
  /** Without doubles; empty where it is absent. */
  strings(key: string): readonly string[];
  /** The tables of a list; none where it is absent. */
  tables(key: string): readonly RuleFields[];
  integer(key: string): number;
  /** Refuses what nobody asked for: a misspelled key must not be a rule that does not hold. */
  end(): void;
  error(problem: string): QueryError;
}

/** `source` is the file or object that messages name. */
export function ruleFields(value: unknown, source: string, pathOf = () => ''): RuleFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    throw ruleError(source, pathOf(), 'is not a table');
  const fields = value as Readonly<Record<string, unknown>>;
  const asked = new Set<string>();
  const error = (problem: string): QueryError => ruleError(source, pathOf(), problem);
  const take = (key: string): unknown => {
    asked.add(key);
    return Object.hasOwn(fields, key) ? fields[key] : undefined;
  };
  const optionalString = (key: string): string | undefined => {
    const taken = take(key);
    if (taken === undefined) return undefined;
    if (typeof taken !== 'string' || taken === '') throw error(`\`${key}\` must be a text that is not empty`);
    return taken;
  };
  const list = (key: string): readonly unknown[] => {
    const taken = take(key) ?? [];
    if (!Array.isArray(taken)) throw error(`\`${key}\` must be a list`);
    return taken;
  };
  return {
    optionalString,
    string(key) {
      const text = optionalString(key);
      if (text === undefined) throw error(`\`${key}\` is missing`);
      return text;
    },
    strings(key) {
      const texts = list(key).map((each) => {
        if (typeof each !== 'string' || each === '')
          throw error(`\`${key}\` must be a list of texts that are not empty`);
        return each;
      });
      return [...new Set(texts)];
    },
    tables: (key) =>
      list(key).map((each, index) => ruleFields(each, source, () => itemPath(key, index, each))),
    integer(key) {
      const taken = take(key);
      // TOML's whole numbers come as bigint.
      const number = typeof taken === 'bigint' ? Number(taken) : taken;
      if (typeof number !== 'number' || !Number.isSafeInteger(number))
        throw error(`\`${key}\` must be a whole number`);
      return number;
    },
    end() {
      const unknown = Object.keys(fields).find((key) => !asked.has(key));
      if (unknown !== undefined)
        throw error(`there is no key ${shownName(unknown)}: there are ${[...asked].join(', ')}`);
    },
    error,
  };
}

export function ruleError(source: string, path: string, problem: string): QueryError {
  const place = path === '' ? '' : `${path}: `;
  return new QueryError(
    'CONFIGURATION_ERROR',
    `The policies in ${source} are not valid: ${place}${problem}.`,
  );
}

/** A name of the document for messages, which may be as long and as strange as its writer liked. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** As messages name it: `policies[3] ("eu_only")`. */
function itemPath(key: string, index: number, value: unknown): string {
  const name = (value as { readonly name?: unknown } | null)?.name;
  return typeof name === 'string' ? `${key}[${index}] (${shownName(name)})` : `${key}[${index}]`;
}
