import path from 'node:path';
import { runCommand } from '../support/run-command.mjs';

/** A self-signed certificate for the loopback names, good for two days. */
export async function makeCertificate(folder) {
  const certificate = path.join(folder, 'certificate.pem');
  const key = path.join(folder, 'key.pem');
  const result = await runCommand('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', key, '-out', certificate],
  ]);
  if (result.code !== 0) throw new Error(`openssl ended with ${result.code}:\n${result.output.slice(-2000)}`);
  return { certificate, key };
}
