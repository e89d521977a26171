// What the container runs: `node infra/docker/start.mjs serve|worker`. The platform gives secrets as variables, but the service
// reads certificates and keys as files: the text of DEPLOY_FILE_<KEY> becomes a file, and its path the variable <KEY>. Then the
// service goes on in this process, so that signals reach it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const prefix = 'DEPLOY_FILE_';
const folder = path.join(tmpdir(), `svc-files-${process.pid}`);

for (const [name, text] of Object.entries(process.env)) {
  if (!name.startsWith(prefix)) continue;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${name.slice(prefix.length).toLowerCase()}.pem`);
  writeFileSync(file, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
  process.env[name.slice(prefix.length)] = file;
  // Engine processes inherit the environment.
  delete process.env[name];
}

await import('../../packages/cli/dist/bundle/main.mjs');
