/** What goes through the pipes of a sandbox: kind, length, bytes. */
export interface PipeFrame {
  readonly kind: number;
  readonly body: Uint8Array;
}

export interface SandboxEvent {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly deadlineMs: number;
  readonly functionName: string;
  readonly event: unknown;
}

export const kindOf = { ready: 1, chunk: 2, end: 3, error: 4 } as const;

export function frame(kind: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32LE(body.byteLength, 1);
  return Buffer.concat([head, body]);
}

export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<PipeFrame, void, undefined> {
  let held: Buffer[] = [];
  let bytes = 0;
  let wanted = 5;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    while (bytes >= wanted) {
      const all = Buffer.concat(held);
      const length = all.readUInt32LE(1);
      if (bytes < 5 + length) {
        held = [all];
        wanted = 5 + length;
        break;
      }
      yield { kind: all.readUInt8(0), body: all.subarray(5, 5 + length) };
      const rest = all.subarray(5 + length);
      held = [rest];
      bytes = rest.length;
      wanted = 5;
    }
  }
}
