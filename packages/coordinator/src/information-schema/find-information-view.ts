import { QueryError } from '@svc/base';
import type { SnapshotPin } from '@svc/lake';
import type { TablePlace } from '../planner/names.js';
import type { InformationView } from './information-view.js';
import { informationSchema } from './names.js';
import { informationViews } from './views.js';

/** Throws TABLE_NOT_FOUND naming the views that there are, NOT_SUPPORTED for one as of another time. */
export function findInformationView(
  { identifier }: TablePlace,
  pin: SnapshotPin = { kind: 'current' },
): InformationView {
  const wanted = identifier.name.toLowerCase();
  const view = informationViews.find(({ name }) => name === wanted);
  if (view === undefined)
    throw new QueryError(
      'TABLE_NOT_FOUND',
      `"${informationSchema}.${identifier.name}" does not exist; there is ${informationViews.map(({ name }) => name).join(', ')}.`,
    );
  if (pin.kind !== 'current')
    throw new QueryError('NOT_SUPPORTED', `${informationSchema}.${view.name} has no history to read.`);
  return view;
}
