/** One connection of an instance: running statements to their end, and reading what the engine answers. */
import type { QueryError } from '@svc/base';
import type { DuckDbFunctions, ResultWords } from '../capi/functions.js';
import { duckDbResultLayout } from '../capi/layouts.js';
import { type Address, addressOf, window } from '../capi/memory.js';
import { engineError } from './engine-error.js';

export interface EngineConnection {
  readonly functions: DuckDbFunctions;
  readonly handle: Address;
  /** The error for a text of the engine, with the instance's folders removed. */
  error(text: string | null): QueryError;
}

/** Memory for one `duckdb_result`. The engine writes it; `close` destroys what it refers to. */
export class ResultMemory {
  readonly address: Address;
  private readonly functions: DuckDbFunctions;
  private readonly bytes = new Uint8Array(new ArrayBuffer(duckDbResultLayout.size));
  private isOpen = true;

  constructor(functions: DuckDbFunctions) {
    this.functions = functions;
    this.address = addressOf(this.bytes);
  }

  /** The struct's words, for calls that take it by value. */
  words(): ResultWords {
    window.load(this.address, duckDbResultLayout.size);
    return {
      columnCount: window.word(0),
      rowCount: window.word(1),
      rowsChanged: window.word(2),
      columns: window.word(3),
      errorMessage: window.word(4),
      internalData: window.word(5),
    };
  }

  error(): string | null {
    return this.functions.resultError(this.address);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.functions.destroyResult(this.address);
  }
}

export function connectionOf(
  functions: DuckDbFunctions,
  handle: Address,
  folders: readonly string[],
): EngineConnection {
  return { functions, handle, error: (text) => engineError(text, folders) };
}
