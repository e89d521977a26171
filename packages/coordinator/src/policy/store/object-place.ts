/** The rules of several coordinators: one object, replaced only by whom has seen what it replaces (If-Match). */
import { QueryError } from '@svc/base';
import type { ObjectStore } from '@svc/lake';
import { maxDocumentBytes } from './rule-document.js';
import type { PlacedDocument, RulePlace } from './rule-place.js';

/** Another coordinator may write between asking for the version and reading; not often. */
const maxReads = 5;

export function createObjectPlace(
  store: Pick<ObjectStore, 'head' | 'read' | 'write'>,
  location: string,
): RulePlace {
  return { name: location, isShared: true, version, read, write };

  async function version(signal: AbortSignal): Promise<string | undefined> {
    try {
      const info = await store.head(location, { signal });
      if (info.sizeBytes > maxDocumentBytes)
        throw new QueryError(
          'CONFIGURATION_ERROR',
          `${location} has ${info.sizeBytes} bytes; an object with policies has at most ${maxDocumentBytes}.`,
        );
      return info.version;
    } catch (error) {
      if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') return undefined;
      throw error;
    }
  }

  async function read(signal: AbortSignal): Promise<PlacedDocument | undefined> {
    for (let reads = 1; ; reads++) {
      const found = await version(signal);
      if (found === undefined) return undefined;
      try {
        const bytes = await store.read(location, { signal, version: found });
        return { bytes, version: found };
      } catch (error) {
        const isPassing = error instanceof QueryError && error.code === 'STORAGE_ERROR';
        if (!isPassing || reads === maxReads) throw error;
      }
    }
  }

  async function write(text: string, replaced: string | undefined, signal: AbortSignal): Promise<string> {
    const condition = replaced === undefined ? { ifAbsent: true } : { ifVersion: replaced };
    const written = await store.write(location, Buffer.from(text), { ...condition, signal });
    return written.version;
  }
}
