import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { QueryError } from '../errors/query-error.js';
import { crossCheck } from './cross-check.js';
import { type Machine, readMachine } from './machine.js';
import { describeRaw, nearestName } from './problems.js';
import { type AnySetting, type Config, environmentName, settingsByKey } from './registry.js';
import type { DefaultInputs, SettingValue } from './setting.js';
import { isTable, parseTomlFile, type TomlFile } from './toml-file.js';
import { type ParsedValue, path as pathType } from './value-types.js';

export interface ConfigSources {
  /** The configuration file; absent when there is none. `path` is for messages only. */
  readonly toml?: TomlFile | undefined;
  /** Environment variables; only names `SVC_SECTION__KEY` are looked at. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What relative paths start at. Default: the working folder of the process. */
  readonly workingDirectory?: string;
  /** What `~/` stands for. Default: the home folder of the user. */
  readonly homeDirectory?: string;
  /** Default: the machine this process runs on. */
  readonly machine?: Machine;
}

/** Where a raw value came from, and how its type reads it. */
interface GivenValue {
  readonly key: string;
  readonly setting: AnySetting;
  readonly origin: string;
  readonly raw: unknown;
  readonly source: 'file' | 'environment';
}

const sections: ReadonlySet<string> = new Set(
  [...settingsByKey.keys()].map((key) => key.split('.')[0] ?? key),
);
const keysByEnvironmentName = new Map([...settingsByKey.keys()].map((key) => [environmentName(key), key]));

/**
 * The configuration: defaults, then the file, then the environment. Complete, checked, frozen; paths are absolute.
 * Throws one CONFIGURATION_ERROR that lists every problem found, each with its key and where the value came from.
 */
export function loadConfig(sources: ConfigSources): Config {
  const problems: string[] = [];
  const values = new Map<string, SettingValue>();
  const refused = new Set<string>();
  const inputs: DefaultInputs = {
    machine: sources.machine ?? readMachine(),
    given: (key) => values.get(key),
  };
  const given = [
    ...(sources.toml === undefined ? [] : collectFile(sources.toml, problems)),
    ...collectEnvironment(sources.environment, problems),
  ];
  // The environment comes last and wins; a value of the file that it replaces is checked nevertheless.
  for (const value of given) {
    const read = readValue(value, inputs);
    if (read.kind === 'value') values.set(value.key, read.value);
    if (read.kind === 'unset') values.delete(value.key);
    if (read.kind !== 'problem') continue;
    refused.add(value.key);
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

function collectFile(toml: TomlFile, problems: string[]): readonly GivenValue[] {
  const file = parseTomlFile(toml);
  if (file.kind === 'syntax-error') {
    problems.push(file.message);
    return [];
  }
  const given: GivenValue[] = [];
  for (const { key, value } of file.entries) {
    const setting = settingsByKey.get(key);
    if (setting !== undefined) given.push({ key, setting, origin: toml.path, raw: value, source: 'file' });
    else if (!sections.has(key))
      problems.push(`${toml.path}: unknown key \`${key}\`${nearestName(key, settingsByKey.keys())}`);
    else if (!isTable(value)) problems.push(`${toml.path}: \`${key}\` must be a table, \`[${key}]\``);
  }
  return given;
}

function collectEnvironment(
  environment: ConfigSources['environment'],
  problems: string[],
): readonly GivenValue[] {
  const given: GivenValue[] = [];
  for (const [name, raw] of Object.entries(environment)) {
    if (raw === undefined || !/^SVC_.*__/.test(name)) continue;
    const key = keysByEnvironmentName.get(name);
    const setting = key === undefined ? undefined : settingsByKey.get(key);
    if (key === undefined || setting === undefined) {
      problems.push(
        `environment: unknown variable ${name}${nearestName(name, keysByEnvironmentName.keys())}`,
      );
    } else if (!setting.environment) {
      problems.push(
        `environment: ${name} is not allowed: \`${key}\` can only be set in the configuration file`,
      );
    } else {
      given.push({ key, setting, origin: `environment variable ${name}`, raw, source: 'environment' });
    }
  }
  return given;
}

type ReadValue = ParsedValue<SettingValue> | { readonly kind: 'problem'; readonly message: string };

function readValue(given: GivenValue, inputs: DefaultInputs): ReadValue {
  const { key, setting } = given;
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
    ? resolve(sources.homeDirectory ?? homedir(), `.${path.slice(1)}`)
    : resolve(sources.workingDirectory ?? process.cwd(), path);
}
