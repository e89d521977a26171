/** Faults that a real Redis does not have on command; what it has is in test/peers/sessions. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { parseRedisAddress } from './redis-address.js';
import { connectRedisLockServer } from './redis-lock-server.js';
import type { LockServer } from './shared-scan-lock.js';

const password = 'redis-secret';

/** Of what Redis answers, in its protocol; undefined: nothing at all. */
type Answer = (command: readonly string[]) => string | undefined;

describe('the lock in Redis', () => {
  const failing: Readonly<Record<string, Answer>> = {
    'is silent': () => undefined,
    'is a replica': () => "-READONLY You can't write against a read only replica.\r\n",
    'is loading': () => '-LOADING Redis is loading the dataset in memory\r\n',
    'is out of memory': () => "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    'speaks something else': () => 'HTTP/1.1 400 Bad Request\r\n\r\n',
    'sends half an answer': () => '$5\r\nab',
    'refuses the password': ([name]) =>
      name === 'AUTH'
        ? '-WRONGPASS invalid username-password pair\r\n'
        : '-NOAUTH Authentication required.\r\n',
    'is old and repeats what it is sent': (command) => `-ERR unknown command ${command.join(' ')}\r\n`,
  };
  for (const [title, answer] of Object.entries(failing)) {
    it(`fails for a moment, shows no password and comes back where the server ${title}`, async () => {
      const server = await startServer(answer);
      const { lock, problems } = connect(server.port);
      try {
        await until(() => server.commands() > 0);
        const failures = [await failureOf(lock.take('v', 1000)), await failureOf(lock.keep('v', 1000))];
        assert.ok(failures.every((message) => message !== ''));
        assert.doesNotMatch([...failures, ...problems].join('\n'), new RegExp(password));
        server.answerAs(healthy);
        await untilTaken(lock);
      } finally {
        lock.close();
        await server.stop();
      }
    });
  }

  it('fails at once while there is no server, and comes back with it', async () => {
    const gone = await startServer(healthy);
    await gone.stop();
    const { lock, problems } = connect(gone.port);
    await until(() => problems.length > 2);
    assert.notEqual(await failureOf(lock.take('v', 1000)), '');
    assert.match(problems.join('\n'), /ECONNREFUSED/);
    const server = await startServer(healthy, gone.port);
    await untilTaken(lock);
    lock.close();
    await server.stop();
  });

  it('ends with its last connection', async () => {
    const server = await startServer(healthy);
    const { lock } = connect(server.port);
    await untilTaken(lock);
    lock.close();
    await until(() => server.connections() === 0);
    assert.notEqual(await failureOf(lock.take('v', 1000)), '');
    await server.stop();
  });
});

const healthy: Answer = () => '+OK\r\n';

function connect(port: number) {
  const problems: string[] = [];
  const lock = connectRedisLockServer({
    address: parseRedisAddress(`redis://:${password}@127.0.0.1:${port}`),
    onProblem: (message) => problems.push(message),
    random: () => 0,
  });
  return { lock, problems };
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : 'not an error';
  }
}

async function untilTaken(lock: LockServer): Promise<void> {
  while (!(await lock.take('v', 1000).catch(() => false)))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const servers: { stop(): Promise<void> }[] = [];
after(() => Promise.all(servers.map((server) => server.stop())));

/** Reads commands of Redis' protocol, one array of texts each, and answers them as it is told. */
async function startServer(first: Answer, chosenPort = 0) {
  let answer = first;
  let commands = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      for (let read = readCommand(text); read !== undefined; read = readCommand(text)) {
        text = read.rest;
        commands += 1;
        const reply = answer(read.command);
        if (reply !== undefined) socket.write(reply);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(chosenPort, '127.0.0.1', resolve);
  });
  const address = server.address();
  const started = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    commands: () => commands,
    connections: () => sockets.size,
    answerAs(next: Answer) {
      answer = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  servers.push(started);
  return started;
}

function readCommand(
  text: string,
): { readonly command: readonly string[]; readonly rest: string } | undefined {
  const [head] = /^\*(\d+)\r\n/.exec(text) ?? [];
  if (head === undefined) return undefined;
  const command: string[] = [];
  let rest = text.slice(head.length);
  for (let count = Number(head.slice(1)); count > 0; count -= 1) {
    const [length] = /^\$\d+\r\n/.exec(rest) ?? [];
    if (length === undefined) return undefined;
    const end = length.length + Number(length.slice(1));
    if (rest.length < end + 2) return undefined;
    command.push(rest.slice(length.length, end));
    rest = rest.slice(end + 2);
  }
  return { command, rest };
}
