import type { Setting, SettingValue } from './setting.js';
import { fragmentSettings } from './settings-fragments.js';
import { lambdaSettings } from './settings-lambda.js';
import { policySettings } from './settings-policy.js';
import { resourceSettings } from './settings-resources.js';
import { serviceSettings } from './settings-service.js';
import { signInSettings } from './settings-sign-in.js';
import { workerSettings } from './settings-worker.js';

/** Every configuration key by its TOML path, in the order of the documentation. */
export const settings = {
  ...serviceSettings,
  ...signInSettings,
  ...policySettings,
  ...resourceSettings,
  ...workerSettings,
  ...fragmentSettings,
  ...lambdaSettings,
} as const;

export type ConfigKey = keyof typeof settings;

/** The configuration by TOML key (`config['server.flight_port']`): complete, checked and frozen. */
export type Config = {
  readonly [K in ConfigKey]: (typeof settings)[K] extends Setting<
    SettingValue,
    infer V extends SettingValue | undefined
  >
    ? V
    : never;
};

export type AnySetting = Setting<SettingValue, SettingValue | undefined>;

/** The same registry for code that walks it. */
export const settingsByKey: ReadonlyMap<string, AnySetting> = new Map<string, AnySetting>(
  Object.entries(settings),
);

/** `server.flight_port` → `SVC_SERVER__FLIGHT_PORT`. */
export function environmentName(key: string): string {
  return `SVC_${key.replace('.', '__').toUpperCase()}`;
}
