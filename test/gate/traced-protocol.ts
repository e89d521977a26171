/** Lines between a test and the process that runs its statements. */
export interface TracedRequest {
  readonly kind: 'statement' | 'state';
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly string[];
}

export interface TracedAnswer {
  readonly id: number;
  readonly bound: boolean;
  readonly ran: boolean;
  /** What the statement did that no statement may. */
  readonly findings: readonly string[];
  /** JSON texts of its plans: as bound, as optimised, as run. */
  readonly plans?: readonly string[];
  readonly error?: string | undefined;
  /** Answers to `state`. */
  readonly state?: string;
}

const markFolder = '/svc-gate-fuzz';

/** A path that is asked for in vain when a request begins (its number) and ends (`idle-` and its number). */
export function markPath(name: string): string {
  return `${markFolder}/${name}`;
}
