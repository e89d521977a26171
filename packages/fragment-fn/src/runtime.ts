/**
 * A fragment that answers rows: stage the scans, bind the SQL's tables to them, run, stream. The coordinator executes
 * only through it and `writeFragment`; workers and Lambda functions will run the same code behind their own doors.
 */
import { throwIfAborted } from '@svc/base';
import type { EngineMessage, EngineResult } from '@svc/engine';
import {
  bindTables,
  type FragmentEnvironment,
  type FragmentOptions,
  fragmentStatistics,
  type LeasedFragment,
  onLease,
  resultTooLarge,
  stagedGroups,
  stageTables,
  startStatement,
} from './leased-fragment.js';
import { namingOriginalFiles } from './original-files.js';
import type { FragmentRequest, FragmentStatistics } from './request.js';
import type { StagedGroup } from './views/staged-group.js';

export interface FragmentResult {
  /** Encapsulated Arrow IPC schema message. */
  readonly schema: Uint8Array;
  /** Must be read to its end or returned early; both free the engine. */
  readonly messages: AsyncIterable<EngineMessage>;
  /** Aborts when the fragment ends by its limits or its caller while nobody may be reading; the reason is the error. */
  readonly failed: AbortSignal;
  /** Resolves when no engine host is held any more, however the fragment ended; never rejects. */
  readonly engineFree: Promise<void>;
  statistics(): FragmentStatistics;
}

/** Starts a fragment. Resolves when its schema is known. Throws QueryError; then nothing is left behind. */
export async function runFragment(
  request: FragmentRequest,
  environment: FragmentEnvironment,
  options: FragmentOptions,
): Promise<FragmentResult> {
  return await onLease(request, environment, options, startOnLease);
}

async function startOnLease(fragment: LeasedFragment): Promise<FragmentResult> {
  const { request, link, lease } = fragment;
  const stagingStart = performance.now();
  const staged = await stageTables(fragment);
  const engineStart = performance.now();
  const groups = stagedGroups(staged);
  const start = () =>
    startStatement(fragment, staged[0], { bind: () => bindTables(fragment, staged), isLast: true });
  const result = await start().catch((error: unknown) => {
    throw namingOriginalFiles(error, groups);
  });
  let engineMs = 0;
  const engineFree = result.engineDone.then(async () => {
    engineMs = performance.now() - engineStart;
    await lease.release();
  });
  return {
    schema: result.schema,
    messages: limitedMessages(result, { request, link, groups }),
    failed: link.signal,
    engineFree,
    statistics: () =>
      fragmentStatistics(staged, result.profile(), { stagingMs: engineStart - stagingStart, engineMs }),
  };
}

/**
 * The result's messages under the fragment's limits. Written out as an iterator and not as a generator: `return()`
 * must free the engine even when nothing has been read yet.
 */
function limitedMessages(
  result: EngineResult,
  {
    request,
    link,
    groups,
  }: Pick<LeasedFragment, 'request' | 'link'> & { readonly groups: readonly StagedGroup[] },
): AsyncIterable<EngineMessage> {
  return {
    [Symbol.asyncIterator]() {
      const source = result.messages[Symbol.asyncIterator]();
      let bytes = 0;
      return {
        async next() {
          const next = await source.next().catch((error: unknown) => {
            link[Symbol.dispose]();
            throwIfAborted(link.signal);
            throw namingOriginalFiles(error, groups);
          });
          if (next.done) {
            link[Symbol.dispose]();
            return next;
          }
          bytes += next.value.body.byteLength;
          if (bytes > request.limits.resultBytes) {
            next.value.release();
            await source.return?.();
            link[Symbol.dispose]();
            throw resultTooLarge(request.limits);
          }
          return next;
        },
        async return() {
          try {
            await source.return?.();
          } finally {
            link[Symbol.dispose]();
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
