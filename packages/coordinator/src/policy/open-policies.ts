/** The rules that hold in this process: those of SQL and those of the rules file, as one set with a version. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Config, type Logger, type Metrics, QueryError } from '@svc/base';
import { createS3Store } from '@svc/lake';
import { type IndexedPolicies, indexPolicies } from './index-policies.js';
import type { PolicySet } from './policy.js';
import { changedRules, type PolicyMutation } from './policy-change.js';
import { createFilePlace } from './store/file-place.js';
import { createObjectPlace } from './store/object-place.js';
import { noRules } from './store/rule-document.js';
import type { RulePlace } from './store/rule-place.js';
import { openRuleStore } from './store/rule-store.js';
import { openRulesFile } from './store/rules-file.js';

export interface Policies {
  /** What holds now. Never fails: what cannot be read any more leaves the rules from before. */
  current(): IndexedPolicies;
  /** Durable, and what `current` answers, once it returns. Throws what `changedRules` and storage throw; then nothing was changed. */
  change(mutation: PolicyMutation, signal: AbortSignal): Promise<void>;
  /** Looks at once for what others changed, as is done every two seconds. Never fails. */
  refresh(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface OpenPoliciesOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Where SQL's rules lie. Default: what is configured. */
  readonly place?: RulePlace;
}

const pollMs = 2000;
/** How often a failure that lasts is said again. */
const sayAgainMs = 60_000;
const openMs = 30_000;

/** Throws CONFIGURATION_ERROR for rules that are not right, and what storage throws: without its rules the service does not start. */
export async function openPolicies(config: Config, options: OpenPoliciesOptions): Promise<Policies> {
  const { metrics, now } = options;
  const logger = options.logger.child('svc::policy');
  const place = options.place ?? placeOf(config, metrics);
  const catalogs = [config['catalog.name']];
  const rulesPath = config['policy.rules_file'];
  const store = await openRuleStore(place, { catalogs }, AbortSignal.timeout(openMs));
  const file = rulesPath === undefined ? undefined : await openRulesFile(rulesPath, { catalogs });
  const closing = new AbortController();
  const saidAtMs = new Map<string, number>();
  let indexed = merged();
  /** Each goes by itself: storage that does not answer keeps nobody from a change of the file. */
  const looks: readonly Look[] = [
    ...(place.isShared ? [() => look('sql', () => store.refresh(closing.signal))] : []),
    ...(file === undefined ? [] : [() => look('rules_file', () => file.refresh())]),
  ];
  const timers = new Map<Look, NodeJS.Timeout>();
  const looking = new Map<Look, Promise<void>>();
  metrics.policyCount.readFrom(() => indexed.policies.length + indexed.grants.length);
  for (const each of looks) schedule(each);

  return {
    current: () => indexed,
    async change(mutation, signal) {
      await store.change((rules) => changedRules(rules, mutation), signal);
      taken('sql');
    },
    async refresh() {
      await Promise.all(looks.map((each) => each()));
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      closing.abort(new QueryError('SHUTTING_DOWN', 'The service is stopping.'));
      await Promise.all(looking.values());
    },
  };

  async function look(source: 'sql' | 'rules_file', takeChanges: () => Promise<boolean>): Promise<void> {
    try {
      if (await takeChanges()) taken(source);
      saidAtMs.delete(source);
    } catch (error) {
      if (closing.signal.aborted) return;
      metrics.policyLoads.inc({ source, outcome: 'failed' });
      const saidAt = saidAtMs.get(source);
      if (saidAt !== undefined && now() - saidAt < sayAgainMs) return;
      saidAtMs.set(source, now());
      const { code, message } = QueryError.from(error);
      logger.log('warn', 'policies could not be read: those from before hold on', {
        source,
        error_code: code,
        error: message,
      });
    }
  }

  function taken(source: 'sql' | 'rules_file'): void {
    const next = merged();
    if (next.version === indexed.version) return;
    indexed = next;
    metrics.policyLoads.inc({ source, outcome: 'changed' });
    logger.log('info', 'policies changed', {
      source,
      policies: indexed.policies.length,
      grants: indexed.grants.length,
      version: indexed.version,
    });
  }

  function merged(): IndexedPolicies {
    const sql = store.current();
    const { policies, grants } = file?.current() ?? noRules;
    return indexPolicies(
      policySet(
        { policies: [...sql.policies, ...policies], grants: [...sql.grants, ...grants] },
        config['policy.default'],
      ),
    );
  }

  function schedule(each: Look): void {
    const timer = setTimeout(() => {
      const ended = each().finally(() => {
        if (!closing.signal.aborted) schedule(each);
      });
      looking.set(each, ended);
    }, pollMs).unref();
    timers.set(each, timer);
  }
}

/** Takes what was changed; never fails. */
type Look = () => Promise<void>;

/** With the version that all processes give the same rules. */
export function policySet(
  { policies, grants }: Pick<PolicySet, 'policies' | 'grants'>,
  defaultAccess: PolicySet['default'],
): PolicySet {
  const text = JSON.stringify([policies, grants, defaultAccess]);
  const version = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return { version, policies, grants, default: defaultAccess };
}

function placeOf(config: Config, metrics: Metrics): RulePlace {
  const location = config['policy.location'];
  if (location === undefined) return createFilePlace(join(config['server.data_dir'], 'policies.json'));
  const store = createS3Store({
    endpoint: config['policy.endpoint'],
    region: config['policy.region'],
    access: { kind: 'standard' },
    metrics,
  });
  return createObjectPlace(store, location);
}
