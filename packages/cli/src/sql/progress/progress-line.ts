/** One line on a terminal that says how far a statement is. It is there only while there is something to wait for. */
export interface ProgressLineOptions {
  readonly write: (text: string) => void;
  /** Columns of the terminal. */
  readonly width: () => number;
  /** Whether the answer goes to the same terminal, so that its first row ends the progress. */
  readonly sharesTerminal: boolean;
}

/** What is quick is not worth a line. */
const firstAfterMs = 500;
const everyMs = 200;
const barCells = 20;

export class ProgressLine {
  readonly sharesTerminal: boolean;
  readonly #options: ProgressLineOptions;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #fraction: number | undefined;
  #rows = 0;
  #bytes = 0;
  #isShown = false;

  constructor(options: ProgressLineOptions) {
    this.#options = options;
    this.sharesTerminal = options.sharesTerminal;
  }

  start(): void {
    this.stop();
    this.#startedAt = performance.now();
    this.#fraction = undefined;
    this.#rows = 0;
    this.#bytes = 0;
    this.#timer = setInterval(() => this.#show(), everyMs);
    this.#timer.unref();
  }

  /** 0 to 1, or undefined when it is not known. */
  update(fraction: number | undefined): void {
    // Engines begin again with every stage of a plan; a bar that goes back says nothing.
    if (fraction !== undefined && fraction >= (this.#fraction ?? 0)) this.#fraction = fraction;
  }

  received(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  /** Takes the line away. Idempotent. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) this.#options.write('\r\u001b[K');
    this.#isShown = false;
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (elapsedMs < firstAfterMs) return;
    const text = progressText({ elapsedMs, fraction: this.#fraction, rows: this.#rows, bytes: this.#bytes });
    this.#options.write(`\r\u001b[K${text.slice(0, Math.max(0, this.#options.width() - 1))}`);
    this.#isShown = true;
  }
}

export interface ProgressFacts {
  readonly elapsedMs: number;
  readonly fraction: number | undefined;
  /** Received of the answer. */
  readonly rows: number;
  readonly bytes: number;
}

/** `████████░░░░░░░░░░░░  40 %  12.3 s  about 18 s left  1,204,224 rows  34.0 MB`. */
export function progressText({ elapsedMs, fraction, rows, bytes }: ProgressFacts): string {
  const parts = [`${(elapsedMs / 1000).toFixed(1)} s`];
  if (fraction !== undefined && fraction > 0) {
    const full = Math.round(barCells * fraction);
    parts.unshift(`${'█'.repeat(full)}${'░'.repeat(barCells - full)} ${percent(fraction)}`);
    if (fraction < 1) parts.push(`about ${Math.ceil((elapsedMs * (1 - fraction)) / fraction / 1000)} s left`);
  }
  if (bytes > 0) parts.push(`${rows.toLocaleString('en-US')} rows`, `${(bytes / 1e6).toFixed(1)} MB`);
  return parts.join('  ');
}

function percent(fraction: number): string {
  return `${String(Math.floor(100 * fraction)).padStart(3)} %`;
}
