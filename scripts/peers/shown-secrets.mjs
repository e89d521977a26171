// Whether a service shows a secret anywhere but where it must.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Answers where a secret was found, without the secret itself: in what the service wrote, and in what anybody may read. */
export async function shownSecrets({ folder, host, metricsPort, statusPort }, secrets) {
  const shown = new Map();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.log')))
    shown.set(file, readFileSync(path.join(folder, file), 'utf8'));
  for (const [port, page] of [
    [metricsPort, '/metrics'],
    [statusPort, '/api/v1/status'],
  ])
    shown.set(page, await (await fetch(`http://${host}:${port}${page}`)).text());
  return [...shown].flatMap(([where, text]) =>
    secrets.flatMap((secret, index) => (text.includes(secret) ? [`${where} shows secret ${index}`] : [])),
  );
}
