import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SessionOptionValue, SetSessionOptionError } from '../backend.js';
import {
  type GetSessionOptionsResultSchema,
  SetSessionOptionsResult_ErrorValue,
  type SetSessionOptionsResultSchema,
  type SessionOptionValue as WireValue,
} from '../gen/Flight_pb.js';

/** The options of a SetSessionOptions request; a value that is not set means: back to the default. */
export function readSessionOptions(
  options: Readonly<Record<string, WireValue>>,
): ReadonlyMap<string, SessionOptionValue | undefined> {
  return new Map(Object.entries(options).map(([name, value]) => [name, readValue(value)]));
}

function readValue({ optionValue }: WireValue): SessionOptionValue | undefined {
  switch (optionValue.case) {
    case 'stringListValue':
      return optionValue.value.values;
    case 'stringValue':
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
      return optionValue.value;
    case undefined:
      return undefined;
  }
}

/** The body of a GetSessionOptions answer: a bigint travels as int64, a number as double. */
export function writeSessionOptions(
  options: ReadonlyMap<string, SessionOptionValue>,
): MessageInitShape<typeof GetSessionOptionsResultSchema> {
  return {
    sessionOptions: Object.fromEntries(
      [...options].map(([name, value]) => [name, { optionValue: writeValue(value) }]),
    ),
  };
}

function writeValue(value: SessionOptionValue) {
  if (typeof value === 'string') return { case: 'stringValue' as const, value };
  if (typeof value === 'boolean') return { case: 'boolValue' as const, value };
  if (typeof value === 'bigint') return { case: 'int64Value' as const, value };
  if (typeof value === 'number') return { case: 'doubleValue' as const, value };
  return { case: 'stringListValue' as const, value: { values: [...value] } };
}

const wireErrors: Readonly<Record<SetSessionOptionError, SetSessionOptionsResult_ErrorValue>> = {
  'invalid-name': SetSessionOptionsResult_ErrorValue.INVALID_NAME,
  'invalid-value': SetSessionOptionsResult_ErrorValue.INVALID_VALUE,
  error: SetSessionOptionsResult_ErrorValue.ERROR,
};

/** The body of a SetSessionOptions answer: only the options that were not set. */
export function writeSessionOptionErrors(
  errors: ReadonlyMap<string, SetSessionOptionError>,
): MessageInitShape<typeof SetSessionOptionsResultSchema> {
  return {
    errors: Object.fromEntries([...errors].map(([name, error]) => [name, { value: wireErrors[error] }])),
  };
}
