import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of the sst program that the components call: builds, and what it keeps in an account for itself. */
export async function startRpcStub(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const { method, params } = JSON.parse(body);
      response.end(JSON.stringify({ result: answer(method, params[0]) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}

function answer(method: string, input: Record<string, unknown>): unknown {
  switch (method) {
    case 'Runtime.Build':
      return { handler: input.handler, out: input.bundle, errors: [], sourcemaps: [] };
    case 'Provider.Aws.Bootstrap':
      return { asset: 'assets', assetEcrRegistryId: 'registry', assetEcrUrl: 'registry.example/assets' };
    case 'Provider.Aws.HostedZone':
      return { zoneId: 'zone' };
    default:
      return {};
  }
}
