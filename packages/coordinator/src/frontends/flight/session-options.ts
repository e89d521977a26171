import { QueryError } from '@svc/base';
import type { SessionOptionValue, SetSessionOptionError } from '@svc/flight';
import type { Session } from '../../identity/session.js';
import { readableCatalogs } from '../../policy/permitted-catalogs.js';
import { type StatementPlannerDependencies, use } from '../../service/statement-planner.js';

type OptionDependencies = Pick<StatementPlannerDependencies, 'catalogsOf' | 'policies' | 'sessionDefaults'>;

/** Flight's names for what USE changes. */
export function getSessionOptions(session: Session): ReadonlyMap<string, SessionOptionValue> {
  const { catalog, schema } = session.settings;
  return new Map<string, SessionOptionValue>([
    ['catalog', catalog],
    ...(schema === undefined ? [] : [['schema', schema] as const]),
  ]);
}

/** Sets `catalog` and `schema`; an undefined value resets. A name that does not exist, or is not listed to the user, is an invalid value. */
export async function setSessionOptions(
  session: Session,
  options: ReadonlyMap<string, SessionOptionValue | undefined>,
  planner: OptionDependencies,
): Promise<ReadonlyMap<string, SetSessionOptionError>> {
  const errors = new Map<string, SetSessionOptionError>();
  // A catalog changes what the schema means, so it goes first whatever the order.
  for (const name of [...options.keys()].sort()) {
    const error = await setOption(session, name, options.get(name), planner);
    if (error !== undefined) errors.set(name, error);
  }
  return errors;
}

async function setOption(
  session: Session,
  name: string,
  value: SessionOptionValue | undefined,
  planner: OptionDependencies,
): Promise<SetSessionOptionError | undefined> {
  if (name !== 'catalog' && name !== 'schema') return 'invalid-name';
  if (value !== undefined && typeof value !== 'string') return 'invalid-value';
  const { sessionDefaults } = planner;
  const catalogs = readableCatalogs(planner, session);
  try {
    if (name === 'catalog') {
      const catalog = catalogs.get(
        value === undefined || value === '' ? sessionDefaults.catalog : value,
      ).name;
      session.settings = {
        ...session.settings,
        catalog,
        schema: catalog === session.settings.catalog ? session.settings.schema : undefined,
      };
    } else if (value === undefined || value === '') {
      session.settings = { ...session.settings, schema: sessionDefaults.schema };
    } else {
      const written = [session.settings.catalog, value];
      const { catalog, schema } = await use(written, session.settings, catalogs, session.closed);
      session.settings = { ...session.settings, catalog, schema };
    }
    return undefined;
  } catch (error) {
    if (error instanceof QueryError && error.category === 'user') return 'invalid-value';
    throw error;
  }
}
