/**
 * What catalogs told users (spec section 4.4: session contexts), for a while. An answer is found again only under the
 * catalog session that it was given to. Bounded in bytes over all users; the least recently used goes first.
 */
import { abortable, QueryError, throwIfAborted } from '@svc/base';
import type { Namespace, TableIdentifier } from '@svc/lake';
import { LRUCache } from 'lru-cache';

export interface ContextCacheOptions {
  /** From when the catalog was asked. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly now: () => number;
}

/** What was asked. */
export interface Question {
  readonly catalogSession: number;
  readonly catalog: string;
  readonly kind: 'namespaces' | 'namespace' | 'relations' | 'table' | 'view';
  readonly namespace: Namespace;
  /** Of a table or view. */
  readonly name?: string;
}

export interface Answer<T> {
  readonly value: T;
  /** About what keeping it costs; undefined: it is not kept. */
  readonly bytes: number | undefined;
}

interface Slot extends Question {
  readonly key: string;
  readonly askedAtMs: number;
  readonly controller: AbortController;
  answer: Promise<Answer<unknown>>;
  /** Once it is there. */
  settled: Answer<unknown> | undefined;
  waiting: number;
}

/** What a slot takes itself: its keys in the indexes, and its controller. */
const slotBytes = 1024;

export class ContextCache {
  readonly #options: ContextCacheOptions;
  readonly #kept: LRUCache<string, Slot>;
  readonly #asking = new Map<string, Slot>();
  /** Both indexes have what is kept and what is being asked. */
  readonly #byCatalogSession = new Map<number, Set<Slot>>();
  readonly #byPlace = new Map<string, Set<Slot>>();

  constructor(options: ContextCacheOptions) {
    this.#options = options;
    this.#kept = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ settled, key }) => slotBytes + 4 * key.length + Math.ceil(settled?.bytes ?? 0),
      dispose: (slot) => this.#unindex(slot),
    });
  }

  get usedBytes(): number {
    return this.#kept.calculatedSize;
  }

  /**
   * The kept answer, or what `ask` answers; whoever asks the same meanwhile waits for the same. A failure is not kept. The
   * signal of `ask` aborts when nobody waits any more: `signal` ends the waiting of this caller only.
   */
  async get<T>(
    question: Question,
    ask: (signal: AbortSignal) => Promise<Answer<T>>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    throwIfAborted(signal);
    const key = keyOf(question);
    const kept = this.#freshSlot(key);
    if (kept?.settled !== undefined) return kept.settled.value as T;
    const slot = this.#asking.get(key) ?? this.#ask(key, question, ask);
    slot.waiting += 1;
    try {
      const { value } = await abortable(slot.answer, signal);
      return value as T;
    } finally {
      slot.waiting -= 1;
      if (slot.waiting === 0 && slot.settled === undefined) this.#giveUp(slot);
    }
  }

  /** Whether the answer is at hand. */
  has(question: Question): boolean {
    return this.#freshSlot(keyOf(question)) !== undefined;
  }

  dropCatalogSession(id: number): void {
    for (const slot of this.#byCatalogSession.get(id) ?? []) this.#drop(slot);
  }

  /** A table or view was made, changed or dropped: nobody is told the old. */
  dropRelation(catalog: string, { namespace, name }: TableIdentifier): void {
    for (const place of [placeOf(catalog, namespace), placeOf(catalog, namespace, name)])
      for (const slot of this.#byPlace.get(place) ?? []) this.#drop(slot);
  }

  /** A schema was made or dropped. */
  dropSchema(catalog: string, namespace: Namespace): void {
    const changed = placeOf(catalog, namespace);
    const within = [`${changed}.`, `${changed}/`];
    for (const [place, slots] of this.#byPlace)
      for (const slot of slots) {
        const isWithin = place === changed || within.some((start) => place.startsWith(start));
        if (isWithin || (slot.kind === 'namespaces' && slot.catalog === catalog)) this.#drop(slot);
      }
  }

  clear(): void {
    for (const slots of this.#byCatalogSession.values()) for (const slot of slots) this.#drop(slot);
  }

  /** A clock that was put back makes an answer old, not young for ever. */
  #freshSlot(key: string): Slot | undefined {
    const slot = this.#kept.get(key);
    if (slot === undefined) return undefined;
    const ageMs = this.#options.now() - slot.askedAtMs;
    if (ageMs >= 0 && ageMs < this.#options.ttlMs) return slot;
    this.#kept.delete(key);
    return undefined;
  }

  #ask<T>(key: string, question: Question, ask: (signal: AbortSignal) => Promise<Answer<T>>): Slot {
    const controller = new AbortController();
    const askedAtMs = this.#options.now();
    const answer = ask(controller.signal);
    const slot: Slot = { ...question, key, askedAtMs, controller, answer, settled: undefined, waiting: 0 };
    this.#asking.set(key, slot);
    addTo(this.#byCatalogSession, question.catalogSession, slot);
    addTo(this.#byPlace, placeOf(question.catalog, question.namespace, question.name), slot);
    slot.answer = this.#settle(slot);
    return slot;
  }

  /** What was dropped while it was being asked for is answered to those who wait, and not kept. */
  async #settle(slot: Slot): Promise<Answer<unknown>> {
    const { answer, key } = slot;
    try {
      slot.settled = await answer;
      return slot.settled;
    } finally {
      if (this.#asking.get(key) === slot) {
        this.#asking.delete(key);
        if (slot.settled?.bytes !== undefined) this.#kept.set(key, slot);
        // Too large, not to be kept, or failed.
        if (this.#kept.peek(key) !== slot) this.#unindex(slot);
      }
    }
  }

  #giveUp(slot: Slot): void {
    this.#drop(slot);
    slot.controller.abort(
      new QueryError('CANCELLED', 'Nobody waits for this answer of the catalog any more.'),
    );
  }

  #drop(slot: Slot): void {
    if (this.#asking.get(slot.key) === slot) this.#asking.delete(slot.key);
    if (this.#kept.peek(slot.key) === slot) this.#kept.delete(slot.key);
    this.#unindex(slot);
  }

  #unindex(slot: Slot): void {
    removeFrom(this.#byCatalogSession, slot.catalogSession, slot);
    removeFrom(this.#byPlace, placeOf(slot.catalog, slot.namespace, slot.name), slot);
  }
}

function keyOf({ catalogSession, kind, namespace, name }: Question): string {
  return JSON.stringify([catalogSession, kind, namespace, name ?? null]);
}

/** Names match without regard to case, and a level may have a dot in it: rather too much is dropped than too little. */
function placeOf(catalog: string, namespace: Namespace, name?: string): string {
  const schema = `${catalog}/${namespace.join('.').toLowerCase()}`;
  return name === undefined ? schema : `${schema}/${name.toLowerCase()}`;
}

function addTo<K>(index: Map<K, Set<Slot>>, key: K, slot: Slot): void {
  const slots = index.get(key);
  if (slots === undefined) index.set(key, new Set([slot]));
  else slots.add(slot);
}

function removeFrom<K>(index: Map<K, Set<Slot>>, key: K, slot: Slot): void {
  const slots = index.get(key);
  slots?.delete(slot);
  if (slots?.size === 0) index.delete(key);
}
