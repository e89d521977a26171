import { duckDb } from '../capi/library.js';
import { createDuckDbRuntime } from './duckdb-runtime.js';
import type { HostSettings } from './host-settings.js';
import { runHost } from './run-host.js';

/** The program of an engine host process: its one argument is HostSettings as JSON, its pipes those of hostFds. */
const settings = JSON.parse(process.argv[2] ?? '') as HostSettings;
// Before the memory limit is set, so that the library itself does not count against it.
duckDb();
await runHost(settings, createDuckDbRuntime(settings.layout.maxBodyBytes));
