import { quoteString } from '@svc/sql';

/** All options that would let the engine guess from names or paths are off: the groups say it all. */
export function readParquet(paths: readonly string[], extra = ''): string {
  const list = paths.map(quoteString).join(', ');
  return `read_parquet([${list}], hive_partitioning = false, union_by_name = false, binary_as_string = false${extra})`;
}
