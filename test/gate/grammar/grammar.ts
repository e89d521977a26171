/** What the parts of the grammar share, so that none has to import another: queries hold expressions, which hold queries. */
import type { Draw } from './draw.js';
import type { Kind, Signatures } from './signatures.js';

export interface Column {
  /** As it is written, quotes and alias included. */
  readonly sql: string;
  readonly kind: Kind;
}

/** A table reference and what it brings into scope. */
export interface Relation {
  readonly sql: string;
  readonly columns: readonly Column[];
}

export interface Grammar {
  readonly draw: Draw;
  readonly signatures: Signatures;
  /** How likely a choice is one of an attacker; most of these are refused. */
  readonly hostility: number;
  /** Whether parameters may stand in the statement; all of them numbered or all of them `?`. */
  readonly parameter: string | undefined;
  /** A number of this statement that was not given before, for aliases. */
  next(): number;
  expression(kind: Kind, scope: Scope): string;
  /** A query without brackets around it. */
  query(scope: Scope): string;
  relation(scope: Scope): Relation;
}

export interface Scope {
  readonly columns: readonly Column[];
  /** Common tables that a name in FROM may mean. */
  readonly commons: readonly Relation[];
  /** How much deeper it may go. */
  readonly depth: number;
  readonly inAggregate?: boolean;
}

export function deeper(scope: Scope): Scope {
  return { ...scope, depth: scope.depth - 1 };
}

export function isHostile({ draw, hostility }: Grammar): boolean {
  return draw.chance(hostility);
}
