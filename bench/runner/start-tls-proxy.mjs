// TLS in front of a server that has none of its own, as its users would put it there: HAProxy (Debian package haproxy).

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from '../../scripts/peers/certificate.mjs';
import { freePort } from '../../scripts/support/free-ports.mjs';
import { endGroupWithUs, killGroup } from '../../scripts/support/run-command.mjs';
import { accepts } from './ports.mjs';

const startTimeoutMs = 10_000;

/** Answers `{ port, pid, roots, stop }` once it accepts connections; `roots` is what its clients trust. */
export async function startTlsProxy(targetPort, folder) {
  const { certificate, key } = await makeCertificate(folder);
  const both = path.join(folder, 'both.pem');
  writeFileSync(both, Buffer.concat([readFileSync(certificate), readFileSync(key)]), { mode: 0o600 });
  const port = await freePort();
  const configuration = path.join(folder, 'haproxy.cfg');
  writeFileSync(
    configuration,
    `global
  nbthread 2
defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
listen tls
  bind 127.0.0.1:${port} ssl crt "${both}" alpn h2
  server plain 127.0.0.1:${targetPort}
`,
  );
  const child = spawn('haproxy', ['-db', '-f', configuration], { detached: true, stdio: 'ignore' });
  const failed = new Promise((resolve) => child.once('error', resolve));
  const forget = endGroupWithUs(child);
  const stop = () => {
    killGroup(child, 'SIGKILL');
    forget();
  };
  const deadline = Date.now() + startTimeoutMs;
  while (!(await accepts(port))) {
    const error = await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, 100))]);
    if (error !== undefined) throw new Error(`haproxy is needed on the PATH: ${error.message}`);
    if (child.exitCode === null && Date.now() < deadline) continue;
    stop();
    throw new Error('haproxy did not start.');
  }
  return { port, pid: child.pid, roots: readFileSync(certificate, 'utf8'), stop };
}
