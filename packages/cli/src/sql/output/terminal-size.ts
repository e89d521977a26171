/** A terminal that does not tell its size, as those of some programs, is taken for one of the usual size. */
export function terminalSize({ columns, rows }: Partial<Pick<NodeJS.WriteStream, 'columns' | 'rows'>>): {
  readonly columns: number;
  readonly rows: number;
} {
  return { columns: columns || 80, rows: rows || 24 };
}
