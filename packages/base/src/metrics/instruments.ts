import {
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  type Registry,
} from 'prom-client';

/**
 * Thin typed faces of the metric library: label names and values are part of the type, so a wrong or missing one
 * does not compile, and amounts may be bigint, as rows and bytes are everywhere else.
 */

type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** Adds 1, or a non-negative amount. What is not a number is dropped: counting never fails the work it counts. */
  inc(amount?: number | bigint): void;
}

export interface LabelledCounter<L extends Labels> {
  inc(labels: L, amount?: number | bigint): void;
}

export interface LabelledHistogram<L extends Labels> {
  observe(labels: L, value: number): void;
}

/** A value that its owner keeps. */
export interface Gauge {
  /** Names the owner: it is asked at each scrape. A later call replaces an earlier one. */
  readFrom(read: () => number): void;
}

export interface LabelledGauge<L extends string> {
  readFrom(read: () => Readonly<Record<L, number>>): void;
}

export interface MetricDefinition {
  readonly name: `svc_${string}`;
  readonly help: string;
}

export function counter(registry: Registry, definition: MetricDefinition): Counter {
  const metric = new PromCounter({ ...definition, registers: [registry] });
  return { inc: (amount = 1) => metric.inc(countable(amount)) };
}

/** `initial` lists the label values to expose as 0 from the start, so that a first increment is seen by `rate()`. */
export function labelledCounter<L extends Labels>(
  registry: Registry,
  definition: MetricDefinition,
  labelNames: readonly (keyof L & string)[],
  initial: readonly L[],
): LabelledCounter<L> {
  const metric = new PromCounter<string>({ ...definition, labelNames, registers: [registry] });
  for (const labels of initial) metric.inc(labels, 0);
  return { inc: (labels, amount = 1) => metric.inc(labels, countable(amount)) };
}

export function labelledHistogram<L extends Labels>(
  registry: Registry,
  definition: MetricDefinition,
  labelNames: readonly (keyof L & string)[],
  buckets: readonly number[],
): LabelledHistogram<L> {
  const metric = new PromHistogram<string>({
    ...definition,
    labelNames,
    buckets: [...buckets],
    registers: [registry],
  });
  return { observe: (labels, value) => metric.observe(labels, countable(value)) };
}

export interface Histogram {
  observe(value: number): void;
}

export function histogram(
  registry: Registry,
  definition: MetricDefinition,
  buckets: readonly number[],
): Histogram {
  const metric = new PromHistogram({ ...definition, buckets: [...buckets], registers: [registry] });
  return { observe: (value) => metric.observe(countable(value)) };
}

/** The library throws on anything but a finite number that is not negative. */
function countable(amount: number | bigint): number {
  const value = Number(amount);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** 0 until an owner is named; NaN while the owner cannot tell, so that one failing owner does not spoil a scrape. */
export function gauge(registry: Registry, definition: MetricDefinition): Gauge {
  let read = (): number => 0;
  new PromGauge({
    ...definition,
    registers: [registry],
    collect() {
      this.set(valueOrNaN(read));
    },
  });
  return {
    readFrom(owner) {
      read = owner;
    },
  };
}

/** A count that its owner keeps; it must never fall. */
export function readCounter(registry: Registry, definition: MetricDefinition): Gauge {
  let read = (): number => 0;
  new PromCounter({
    ...definition,
    registers: [registry],
    collect() {
      const value = valueOrNaN(read);
      if (!(value >= 0)) return;
      this.reset();
      this.inc(value);
    },
  });
  return {
    readFrom(owner) {
      read = owner;
    },
  };
}

export function labelledGauge<L extends string>(
  registry: Registry,
  definition: MetricDefinition,
  labelName: string,
  labelValues: readonly L[],
): LabelledGauge<L> {
  let read: (() => Readonly<Record<L, number>>) | undefined;
  new PromGauge({
    ...definition,
    labelNames: [labelName],
    registers: [registry],
    collect() {
      for (const value of labelValues) {
        const owner = read;
        this.set({ [labelName]: value }, owner === undefined ? 0 : valueOrNaN(() => owner()[value]));
      }
    },
  });
  return {
    readFrom(owner) {
      read = owner;
    },
  };
}

function valueOrNaN(read: () => number): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}
