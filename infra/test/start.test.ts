import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

describe('what the container starts', () => {
  it('makes files of texts, and leaves neither texts nor rights to others', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-start-'));
    context.after(() => rmSync(folder, { recursive: true }));
    cpSync('infra/docker', join(folder, 'infra/docker'), { recursive: true });
    const program = join(folder, 'packages/cli/dist/bundle');
    mkdirSync(program, { recursive: true });
    writeFileSync(
      join(program, 'main.mjs'),
      'console.log(JSON.stringify({ args: process.argv.slice(2), environment: process.env }));\n',
    );
    const env = {
      TMPDIR: folder,
      SVC_WORKER__PORT: '1',
      DEPLOY_FILE_SVC_WORKER__TLS_CERT: 'certificate',
      DEPLOY_FILE_SVC_WORKER__TLS_KEY: 'key\n',
    };
    const started = spawnSync(process.execPath, [join(folder, 'infra/docker/start.mjs'), 'worker'], { env });
    assert.equal(started.status, 0, String(started.stderr));
    const { args, environment } = JSON.parse(String(started.stdout));
    assert.deepEqual(args, ['worker']);
    assert.deepEqual(Object.keys(environment).sort(), [
      'SVC_WORKER__PORT',
      'SVC_WORKER__TLS_CERT',
      'SVC_WORKER__TLS_KEY',
      'TMPDIR',
    ]);
    assert.equal(readFileSync(environment.SVC_WORKER__TLS_CERT, 'utf8'), 'certificate\n');
    assert.equal(readFileSync(environment.SVC_WORKER__TLS_KEY, 'utf8'), 'key\n');
    assert.equal(statSync(environment.SVC_WORKER__TLS_KEY).mode & 0o777, 0o600);
  });

  it('is healthy while /readyz says so, and not when nobody answers', async () => {
    let status = 200;
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { SVC_METRICS__PROMETHEUS_PORT: String(port - 1) };
    const check = async () => {
      const [code] = await once(spawn(process.execPath, ['infra/docker/health-check.mjs'], { env }), 'exit');
      return code;
    };
    assert.equal(await check(), 0);
    status = 503;
    assert.equal(await check(), 1);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(await check(), 1);
    assert.deepEqual(paths, ['/readyz', '/readyz']);
  });
});
