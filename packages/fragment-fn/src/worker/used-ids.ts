import { QueryError } from '@svc/base';

/** Some 20 MB, and a thousand calls each second. */
const defaultMaxIds = 200_000;

/** Ids that may be used once, kept for as long as they could be used again. */
export class UsedIds {
  private readonly now: () => number;
  private readonly maxIds: number;
  /** By id the time at which it may be forgotten; nearly in the order of these times. */
  private readonly ids = new Map<string, number>();

  constructor(now: () => number, maxIds: number = defaultMaxIds) {
    this.now = now;
    this.maxIds = maxIds;
  }

  /** Whether this is the first use. Throws QUEUE_FULL rather than forget one too soon. */
  use(id: string, keepUntilMs: number): boolean {
    const now = this.now();
    for (const [oldest, until] of this.ids) {
      if (until > now) break;
      this.ids.delete(oldest);
    }
    if (this.ids.has(id)) return false;
    if (this.ids.size >= this.maxIds) this.forgetAll(now);
    if (this.ids.size >= this.maxIds)
      throw new QueryError('QUEUE_FULL', 'The worker was called too often in too short a time.');
    this.ids.set(id, keepUntilMs);
    return true;
  }

  private forgetAll(now: number): void {
    for (const [id, until] of this.ids) if (until <= now) this.ids.delete(id);
  }
}
