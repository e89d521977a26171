/** The rules that SQL made: as they were read or written last, in memory, and durable in one place. */
import { delay, QueryError } from '@svc/base';
import {
  maxDocumentBytes,
  noRules,
  printRuleDocument,
  type RuleDocumentOptions,
  type Rules,
  readRuleDocument,
} from './rule-document.js';
import type { RulePlace } from './rule-place.js';
import { parseRuleJson } from './rule-text.js';

export interface RuleStore {
  current(): Rules;
  /** Takes what others wrote; true where that is something else. Throws, and keeps what there was, where that is no set of rules or not to be had. */
  refresh(signal: AbortSignal): Promise<boolean>;
  /**
   * Makes of the newest rules others, durably before it returns; `edit` may be asked again with newer ones, and throws to refuse. Where it answers
   * what it was given nothing is written.
   */
  change(edit: (rules: Rules) => Rules, signal: AbortSignal): Promise<void>;
}

const maxTries = 20;
const retryDelayMs = 15;

/** Throws CONFIGURATION_ERROR for a damaged document, and what the place throws. */
export async function openRuleStore(
  place: RulePlace,
  options: Omit<RuleDocumentOptions, 'source' | 'origin'>,
  signal: AbortSignal,
): Promise<RuleStore> {
  const documentOptions = { ...options, source: place.name, origin: 'sql' } as const;
  let held = await read();
  let turn: Promise<unknown> = Promise.resolve();

  return {
    current: () => held.rules,
    refresh: (stop) => inTurn(() => refresh(stop)),
    change: (edit, stop) => inTurn(() => change(edit, stop)),
  };

  interface Held {
    readonly rules: Rules;
    /** Undefined: there is no document. */
    readonly version: string | undefined;
  }

  /** One after another, so that what is held is never older than what was read or written last. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  async function read(stop = signal): Promise<Held> {
    const placed = await place.read(stop);
    if (placed === undefined) return { rules: noRules, version: undefined };
    return {
      rules: readRuleDocument(parseRuleJson(placed.bytes, place.name), documentOptions),
      version: placed.version,
    };
  }

  /** Rules that were there do not go away by themselves: a document that vanished is an accident, not an empty one. */
  async function readAgain(stop: AbortSignal): Promise<Held> {
    const found = await read(stop);
    if (found.version === undefined && held.version !== undefined)
      throw new QueryError('STORAGE_ERROR', `The policies in ${place.name} are gone.`, { retryable: false });
    return found;
  }

  async function refresh(stop: AbortSignal): Promise<boolean> {
    if (held.version !== undefined && (await place.version(stop)) === held.version) return false;
    const found = await readAgain(stop);
    const isOther = found.version !== held.version;
    held = found;
    return isOther;
  }

  async function change(edit: (rules: Rules) => Rules, stop: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      held = await readAgain(stop);
      const edited = edit(held.rules);
      if (edited === held.rules) return;
      const text = printRuleDocument(edited);
      if (Buffer.byteLength(text) > maxDocumentBytes)
        throw new QueryError(
          'INVALID_ARGUMENT',
          `All policies and grants together would take more than ${maxDocumentBytes} bytes, which is not read again.`,
        );
      try {
        const version = await place.write(text, held.version, stop);
        held = { rules: edited, version };
        return;
      } catch (error) {
        const isLost = error instanceof QueryError && error.code === 'COMMIT_CONFLICT';
        if (!isLost || tries === maxTries) throw error;
      }
      // Those who lost at the same time try again at different times.
      await delay(retryDelayMs * (1 + Math.random()) * tries, stop);
    }
  }
}
