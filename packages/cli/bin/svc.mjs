#!/usr/bin/env node
// `npm ci` links a command only to a file that is there before anything is built; otherwise `npx svc` would mean the registry's.
import '../dist/bundle/main.mjs';
