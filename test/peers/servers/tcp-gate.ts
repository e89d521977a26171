/** A way to a server that can be closed while it is used: what is written to it goes nowhere then, and who comes anew is turned away. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface TcpGate extends AsyncDisposable {
  readonly url: string;
  open(): void;
  close(): void;
}

export async function openTcpGate(target: string): Promise<TcpGate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    keep(client);
    if (!isOpen) return void client.destroy();
    const onward = connect(Number(port), hostname);
    keep(onward);
    client.pipe(onward).pipe(client);
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The gate has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      end();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      end();
    },
  };
}
