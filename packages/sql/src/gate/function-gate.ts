import { QueryError } from '@svc/base';
import { field, listField, objectField, textField } from '../json/access.js';
import type { JsonObject } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { constantInteger } from './constants.js';
import {
  allowedFunctions,
  allowedTableFunctions,
  allowedTypes,
  deniedFunctionPrefixes,
  deniedFunctions,
  deniedTableFunctions,
  deniedTypes,
  fileTableFunctions,
  isFileFunction,
} from './function-lists.js';

import { statementValueFunctions } from './statement-values.js';
import { checkTypesInText } from './type-gate.js';

/** `server` is what a client of the service gets; `embedded` is the command line, which may read files. */
export type GateProfile = 'server' | 'embedded';

/**
 * Largest list or text that a function may be told to make by constants alone. Constant folding builds it while the
 * statement is still being planned, outside of the engine's memory limit; ten million BIGINTs are 80 MB. What comes
 * from columns or parameters is bounded by the memory limit of the engine's process.
 */
const maxConstantElements = 10_000_000n;

/** Rows of a table function: they stream, so this only ends what would run for hours. */
const maxConstantRows = 10_000_000_000n;

/** Functions that make something as large as an argument says, and which argument it is. */
const sizeArguments: Readonly<Record<string, number>> = {
  repeat: 1,
  lpad: 1,
  rpad: 1,
  list_resize: 1,
  array_resize: 1,
  bitstring: 1,
  equi_width_bins: 2,
  to_base: 2,
};

/** Throws FUNCTION_NOT_ALLOWED unless the function may stand in an expression. Qualified names count by their last part. */
export function checkFunction(call: JsonObject): string {
  const name = textField(call, 'function_name').toLowerCase();
  if (!allowedFunctions.has(name)) throw refusal(name, deniedFunctions);
  if (field(call, 'export_state') === true)
    throw new QueryError('FUNCTION_NOT_ALLOWED', `EXPORT_STATE of ${name} is not allowed.`);
  if (
    statementValueFunctions.has(name) &&
    (textField(call, 'schema') !== '' || textField(call, 'catalog') !== '')
  )
    throw new QueryError('FUNCTION_NOT_ALLOWED', `${name} is called without a schema.`);
  checkTypesInText(call);
  const children = listField(call, 'children');
  const sizeArgument = Object.hasOwn(sizeArguments, name) ? children[sizeArguments[name] ?? 0] : undefined;
  const size =
    name === 'range' || name === 'generate_series'
      ? seriesLength(children)
      : sizeArgument && constantInteger(sizeArgument);
  if (size !== undefined && size > maxConstantElements)
    throw new QueryError(
      'FUNCTION_NOT_ALLOWED',
      `${name} would make ${size} elements at once; at most ${maxConstantElements} are allowed` +
        `${name === 'repeat' || !allowedTableFunctions.has(name) ? '' : ` (FROM ${name}(…) streams and takes more)`}.`,
    );
  return name;
}

/** Throws FUNCTION_NOT_ALLOWED unless the function may stand in FROM; answers its name. */
export function checkTableFunction(call: JsonObject, profile: GateProfile): string {
  const name = textField(call, 'function_name').toLowerCase();
  const readsFiles = isFileFunction(name);
  const allowed = allowedTableFunctions.has(name) || (profile === 'embedded' && readsFiles);
  if (!allowed) {
    if (readsFiles)
      throw new QueryError(
        'FUNCTION_NOT_ALLOWED',
        `The table function ${name} reads files, which is not allowed.`,
      );
    throw refusal(name, deniedTableFunctions);
  }
  const rows = tableFunctionRows(name, listField(call, 'children'));
  if (rows !== undefined && rows > maxConstantRows)
    throw new QueryError(
      'FUNCTION_NOT_ALLOWED',
      `${name} would make ${rows} rows; at most ${maxConstantRows} are allowed.`,
    );
  return name;
}

/** Which list a type is on. For the check against the engine's own catalog. */
export function typePolicy(name: string): 'allowed' | 'denied' | 'unknown' {
  return allowedTypes.has(name) ? 'allowed' : deniedTypes.has(name) ? 'denied' : 'unknown';
}

/** Which list a function is on; `unknown` is on none, and refused. For the check against the engine's own catalog. */
export function functionPolicy(
  name: string,
  place: 'scalar' | 'table' = 'scalar',
): 'allowed' | 'files' | 'denied' | 'unknown' {
  if ((place === 'table' ? allowedTableFunctions : allowedFunctions).has(name)) return 'allowed';
  if (place === 'table' && fileTableFunctions.has(name)) return 'files';
  return reasonAgainst(name, place === 'table' ? deniedTableFunctions : deniedFunctions) === undefined
    ? 'unknown'
    : 'denied';
}

function reasonAgainst(
  name: string,
  denied: Readonly<Record<string, ReadonlySet<string>>>,
): string | undefined {
  const family = Object.keys(deniedFunctionPrefixes).find((prefix) => name.startsWith(prefix));
  return (
    Object.keys(denied).find((why) => denied[why]?.has(name)) ??
    (family === undefined ? undefined : deniedFunctionPrefixes[family])
  );
}

function refusal(name: string, denied: Readonly<Record<string, ReadonlySet<string>>>): QueryError {
  const reason = reasonAgainst(name, denied);
  return new QueryError(
    'FUNCTION_NOT_ALLOWED',
    reason === undefined
      ? `The function ${abbreviate(name)} is not known or not allowed.`
      : `The function ${abbreviate(name)} is not allowed: it ${reason}.`,
  );
}

function tableFunctionRows(name: string, children: readonly JsonObject[]): bigint | undefined {
  if (name === 'range' || name === 'generate_series') return seriesLength(children);
  if (name === 'repeat') return children[1] && constantInteger(children[1]);
  if (name !== 'repeat_row') return undefined;
  for (const child of children) {
    if (textField(child, 'alias').toLowerCase() === 'num_rows') return constantInteger(child);
    if (textField(child, 'class') === 'COMPARISON') return constantInteger(objectField(child, 'right'));
  }
  return undefined;
}

/** Elements of range(stop), range(start, stop), range(start, stop, step) when these are constants, give or take one. */
function seriesLength(children: readonly JsonObject[]): bigint | undefined {
  const values = children.map(constantInteger);
  const [first, second, third] = values;
  if (first === undefined) return undefined;
  if (values.length === 1) return first;
  if (second === undefined) return undefined;
  const step = values.length > 2 ? third : 1n;
  if (step === undefined || step === 0n) return undefined;
  const length = (second - first) / step;
  return length < 0n ? 0n : length;
}
