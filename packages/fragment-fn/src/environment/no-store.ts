import { QueryError } from '@svc/base';
import type { ObjectStore } from '@svc/lake';

/** Of tables without files: whoever asks it for one is wrong. */
export const noStore: ObjectStore = {
  head: refuse,
  read: refuse,
  readRanges: refuse,
  list: refuse,
  write: refuse,
  moveIn: refuse,
  delete: refuse,
  localPath: () => undefined,
};

async function refuse(): Promise<never> {
  throw new QueryError('INTERNAL_ERROR', 'A table of a fragment has no store.');
}
