import type { QueryError } from '@svc/base';

/**
 * How one try of a request ended. `again`: the failure may pass, and the request does no harm when it is sent once more;
 * `error` is what is thrown when no try is left. A failure that stays is thrown by the try itself.
 */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | {
      readonly kind: 'again';
      readonly error: QueryError;
      /** What the server asked for, or 0 when there is nothing to wait for. Without, the delay grows with each try. */
      readonly afterMs?: number | undefined;
      /** The server has too much to do: no second requests for now. */
      readonly isOverloaded?: boolean;
    };

export function done<T>(value: T): Outcome<T> {
  return { kind: 'done', value };
}

/** What a try has to know of its place among the others. */
export interface Try {
  readonly signal: AbortSignal;
  /** False for a second request beside one that is late: it must not write where the first one does. */
  readonly isFirst: boolean;
  /** Bytes of the body have come, or with 0 its head: the time that the server may be silent starts anew. */
  readonly heard: (bytes: number) => void;
}
