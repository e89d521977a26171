import { silentLogger } from '@svc/base';
import { createFlightClient, type FlightClient } from '../client/flight-client.js';
import type { IpcMessage } from '../framing/flight-data.js';
import { createFlightServer, type FlightServerOptions } from '../server/flight-server.js';
import type { FlightServer } from '../server/grpc-listener.js';
import { createFakeBackend, type FakeBackend, type FakeSession } from './fake-backend.js';

export interface ServerAndClient extends Disposable {
  readonly server: FlightServer;
  readonly client: FlightClient;
  readonly backend: FakeBackend;
  /** Another client of the same server, not signed in. */
  connect(): FlightClient;
}

/** A server on a free port and a client that is signed in; both end with the scope. */
export async function startServerAndClient(
  backend: FakeBackend = createFakeBackend(),
  options: Partial<FlightServerOptions<FakeSession>> = {},
): Promise<ServerAndClient> {
  const server = await createFlightServer({
    backend,
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    ...options,
  });
  const { tls } = options;
  const clients: FlightClient[] = [];
  const connect = () => {
    const client = createFlightClient({
      host: tls === undefined ? '127.0.0.1' : 'localhost',
      port: server.port,
      ...(tls === undefined ? {} : { tls: { rootCertsPem: tls.certPem } }),
    });
    clients.push(client);
    return client;
  };
  const client = connect();
  await client.signIn('alice', 'secret');
  return {
    server,
    client,
    backend,
    connect,
    [Symbol.dispose]: () => {
      for (const each of clients) each.close();
      server.destroy();
    },
  };
}

/** Everything a query answers, the schema message first. */
export async function readAll(client: FlightClient, sql: string): Promise<IpcMessage[]> {
  const { tickets } = await client.planStatement(sql);
  const messages: IpcMessage[] = [];
  for (const ticket of tickets) for await (const message of client.read(ticket)) messages.push(message);
  return messages;
}
