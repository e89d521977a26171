/**
 * A proxy in front of an S3 server that records which access key signed each request, and may delay or refuse it. The Host
 * header goes on as it came, so that the server checks the signature that the client made.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StorageCall {
  readonly method: string;
  /** `s3://bucket/key`, or of the bucket alone for a listing. */
  readonly location: string;
  readonly accessKey: string;
  /** Of the answer, once there is one. */
  status?: number;
}

export interface StorageProxy extends AsyncDisposable {
  readonly url: string;
  readonly calls: StorageCall[];
  /** Before the request goes on: milliseconds to wait, or the code of S3 that it is refused with. */
  fault: (call: StorageCall) => number | string | undefined;
}

export async function startStorageProxy(target: string): Promise<StorageProxy> {
  const { hostname, port } = new URL(target);
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method = '', url: path = '', headers } = incoming;
    const accessKey = /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
    const location = `s3:/${decodeURIComponent(path.split('?')[0] ?? '')}`;
    const call: StorageCall = { method, location, accessKey };
    proxy.calls.push(call);
    const fault = proxy.fault(call);
    if (typeof fault === 'string') {
      call.status = 400;
      incoming.resume();
      response.writeHead(400, { 'content-type': 'application/xml' });
      response.end(method === 'HEAD' ? undefined : `<Error><Code>${fault}</Code></Error>`);
      return;
    }
    const send = () => {
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        call.status = answer.statusCode ?? 0;
        response.writeHead(call.status, answer.headers);
        answer.pipe(response);
      });
      onward.once('error', () => response.destroy());
      response.once('close', () => onward.destroy());
      incoming.pipe(onward);
    };
    const timer = setTimeout(send, fault ?? 0);
    response.once('close', () => clearTimeout(timer));
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: StorageProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
