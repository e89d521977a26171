import type { ParquetGroup, ParquetNode } from './schema.js';

/** Largest levels of a column: how many repeated, and how many optional or repeated nodes its path has. */
export interface LeafLevels {
  readonly maxRepetition: number;
  readonly maxDefinition: number;
}

/** By column number. */
export function leafLevels(root: ParquetGroup): readonly LeafLevels[] {
  const levels: LeafLevels[] = [];
  const visit = (node: ParquetNode, maxRepetition: number, maxDefinition: number): void => {
    const repetition = maxRepetition + (node.repetition === 'repeated' ? 1 : 0);
    const definition = maxDefinition + (node.repetition === 'required' ? 0 : 1);
    if (node.kind === 'leaf') levels[node.column] = { maxRepetition: repetition, maxDefinition: definition };
    else for (const child of node.children) visit(child, repetition, definition);
  };
  for (const child of root.children) visit(child, 0, 0);
  return levels;
}
