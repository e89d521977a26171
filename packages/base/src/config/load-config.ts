import { resolve } from 'node:path';
import { QueryError } from '../errors/query-error.js';
import { crossCheck } from './cross-check.js';
import { type Machine, readMachine } from './machine.js';
import { describeRaw, nearestName } from './problems.js';
import { type AnySetting, type Config, environmentName, settingsByKey } from './registry.js';
import type { DefaultInputs, SettingValue } from './setting.js';
import { parseTomlFile, type TomlFile } from './toml-file.js';
import { type ParsedValue, path as pathType } from './value-types.js';

export interface ConfigSources {
  /** The configuration file; absent when there is none. `path` is for messages only. */
  readonly toml?: TomlFile | undefined;
  /** Environment variables; only names `SVC_SECTION__KEY` are looked at. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What relative paths are relative to, and what `~/` stands for. */
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** Default: the machine this process runs on. */
  readonly machine?: Machine;
}

/** Where a raw value came from, and how its type reads it. */
interface GivenValue {
  readonly origin: string;
  readonly raw: unknown;
  readonly source: 'file' | 'environment';
}

/**
 * The configuration: defaults, then the file, then the environment. Complete, checked, frozen; paths are absolute.
 * Throws one CONFIGURATION_ERROR that lists every problem found, each with its key and where the value came from.
 */
export function loadConfig(sources: ConfigSources): Config {
  const problems: string[] = [];
  const given = new Map<string, GivenValue>();
  if (sources.toml !== undefined) collectFile(sources.toml, given, problems);
  collectEnvironment(sources.environment, given, problems);

  const values = new Map<string, SettingValue>();
  const machine = sources.machine ?? readMachine();
  const inputs: DefaultInputs = { machine, given: (key) => values.get(key) };
  const refused = new Set<string>();
  for (const [key, value] of given) {
    const setting = settingsByKey.get(key);
    if (setting === undefined) continue;
    const read = readValue(key, setting, value, inputs);
    if (read.kind === 'value') values.set(key, read.value);
    if (read.kind !== 'problem') continue;
    refused.add(key);
    problems.push(`${value.origin}: ${read.message}`);
  }
  const config = complete(values, inputs, sources);
  // A key that was refused has its default here, which would make a second, misleading problem.
  const crossProblems = crossCheck(config).filter(({ keys }) => !keys.some((key) => refused.has(key)));
  problems.push(...crossProblems.map(({ message }) => message));
  if (problems.length > 0) throw configurationError(problems);
  return config;
}

function configurationError(problems: readonly string[]): QueryError {
  const list =
    problems.length === 1 ? ` ${problems[0]}` : problems.map((problem) => `\n  - ${problem}`).join('');
  return new QueryError('CONFIGURATION_ERROR', `The configuration is not valid:${list}`);
}

function collectFile(toml: TomlFile, given: Map<string, GivenValue>, problems: string[]): void {
  const file = parseTomlFile(toml);
  if (file.kind === 'syntax-error') {
    problems.push(file.message);
    return;
  }
  for (const { key, value } of file.entries) {
    if (settingsByKey.has(key)) given.set(key, { origin: toml.path, raw: value, source: 'file' });
    else problems.push(`${toml.path}: unknown key \`${key}\`${nearestName(key, settingsByKey.keys())}`);
  }
}

const keysByEnvironmentName = new Map([...settingsByKey.keys()].map((key) => [environmentName(key), key]));

function collectEnvironment(
  environment: ConfigSources['environment'],
  given: Map<string, GivenValue>,
  problems: string[],
): void {
  for (const [name, raw] of Object.entries(environment)) {
    if (raw === undefined || !/^SVC_.*__/.test(name)) continue;
    const key = keysByEnvironmentName.get(name);
    if (key === undefined) {
      problems.push(
        `environment: unknown variable ${name}${nearestName(name, keysByEnvironmentName.keys())}`,
      );
    } else if (settingsByKey.get(key)?.environment === false) {
      problems.push(`environment: ${name} is not read: \`${key}\` can only be set in the configuration file`);
    } else {
      given.set(key, { origin: `environment variable ${name}`, raw, source: 'environment' });
    }
  }
}

type ReadValue = ParsedValue<SettingValue> | { readonly kind: 'problem'; readonly message: string };

function readValue(key: string, setting: AnySetting, given: GivenValue, inputs: DefaultInputs): ReadValue {
  const { type } = setting;
  const parsed = given.source === 'environment' ? type.fromText(String(given.raw)) : type.fromToml(given.raw);
  if (parsed.kind === 'unset') return parsed;
  if (setting.notBuilt !== undefined) {
    // Writing the default down, `web_ui = false`, asks for nothing.
    return parsed.kind === 'value' && parsed.value === setting.default.compute(inputs)
      ? parsed
      : { kind: 'problem', message: `\`${key}\` cannot be used: ${setting.notBuilt}` };
  }
  if (parsed.kind === 'value') return parsed;
  const found = describeRaw(given.raw, type.isPrintable && !setting.secret);
  return { kind: 'problem', message: `\`${key}\` must be ${type.expectation}, not ${found}` };
}

function complete(
  values: ReadonlyMap<string, SettingValue>,
  inputs: DefaultInputs,
  sources: ConfigSources,
): Config {
  const entries = [...settingsByKey].map(([key, setting]): [string, SettingValue | undefined] => {
    const value = values.get(key) ?? setting.default.compute(inputs);
    const isPath = setting.type === pathType && typeof value === 'string';
    return [key, isPath ? absolutePath(value, sources) : value];
  });
  // The registry is what the type Config is derived from, and every entry of it is here.
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

function absolutePath(path: string, sources: ConfigSources): string {
  const isBelowHome = path === '~' || path.startsWith('~/');
  return isBelowHome
    ? resolve(sources.homeDirectory, `.${path.slice(1)}`)
    : resolve(sources.workingDirectory, path);
}
