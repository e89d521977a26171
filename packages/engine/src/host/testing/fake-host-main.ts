import type { HostSettings } from '../host-settings.js';
import { runHost } from '../run-host.js';
import { createFakeRuntime } from './fake-instance.js';

await runHost(JSON.parse(process.argv[2] ?? '') as HostSettings, createFakeRuntime());
