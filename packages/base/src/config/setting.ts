import type { Machine } from './machine.js';
import type { ValueType } from './value-types.js';

/** What a default may depend on. */
export interface DefaultInputs {
  readonly machine: Machine;
  /** The value that the file or the environment gives for a key, undefined when neither does. */
  readonly given: (key: string) => unknown;
}

/** A default that is worked out at the start, with a sentence for the documentation. */
export interface ComputedDefault<T> {
  readonly text: string;
  readonly compute: (inputs: DefaultInputs) => T;
}

export type SettingValue = string | number | boolean | readonly string[];

/** One entry of the registry: `T` is what may be given, `V` what `config[key]` is (undefined when it may stay unset). */
export interface Setting<T extends SettingValue, V extends T | undefined = T> {
  readonly type: ValueType<T>;
  readonly default: ComputedDefault<V>;
  /** One sentence. */
  readonly description: string;
  /** Never printed, neither in messages nor in documents. */
  readonly secret: boolean;
  /** False: only the file may set it. */
  readonly environment: boolean;
  /** Set while the feature is not built: any value but the default refuses the start with this sentence. */
  readonly notBuilt: string | undefined;
}

/** A fixed default that follows another key down when that one is set to less. */
export function atMost(type: ValueType<number>, value: number, key: string): ComputedDefault<number> {
  return {
    text: `\`${type.format(value)}\`, at most \`${key}\``,
    compute: ({ given }) => {
      const bound = given(key);
      return typeof bound === 'number' ? Math.min(value, bound) : value;
    },
  };
}

export interface SettingOptions {
  readonly secret?: true;
  readonly environment?: false;
  readonly notBuilt?: string;
}

/** A setting that always has a value. */
export function setting<T extends SettingValue>(
  type: ValueType<T>,
  defaultValue: T | ComputedDefault<T>,
  description: string,
  options: SettingOptions = {},
): Setting<T> {
  const computed =
    typeof defaultValue === 'object' && 'compute' in defaultValue
      ? defaultValue
      : { text: `\`${type.format(defaultValue)}\``, compute: () => defaultValue };
  return { type, default: computed, description, ...complete(options) };
}

/** A setting that may stay unset. */
export function optional<T extends SettingValue>(
  type: ValueType<T>,
  description: string,
  options: SettingOptions = {},
): Setting<T, T | undefined> {
  return {
    type,
    default: { text: 'not set', compute: () => undefined },
    description,
    ...complete(options),
  };
}

function complete(
  options: SettingOptions,
): Pick<Setting<SettingValue>, 'secret' | 'environment' | 'notBuilt'> {
  return {
    secret: options.secret ?? false,
    environment: options.environment ?? true,
    notBuilt: options.notBuilt,
  };
}
