/**
 * What the host's main thread tells its watcher thread: the running request and the engine's connection. The main
 * thread cannot answer messages while the engine runs, so this is memory.
 */
export interface SharedState {
  readonly buffer: SharedArrayBuffer;
  /** Makes the request cancellable; false when its cancellation has already arrived. */
  begin(id: number): boolean;
  /** From here on the watcher does not interrupt for this request. */
  end(): void;
  setConnection(address: number): void;
  /** 0 while nothing runs. */
  runningId(): number;
  /** 0 while there is none. */
  connection(): number;
  requestCancel(id: number): void;
  isCancelled(id: number): boolean;
}

const RUNNING = 0;
const CANCELLED = 1;

export function createSharedState(buffer = new SharedArrayBuffer(16)): SharedState {
  const ids = new Int32Array(buffer, 0, 2);
  const address = new BigInt64Array(buffer, 8, 1);
  const isCancelled = (id: number) => Atomics.load(ids, CANCELLED) === id;
  return {
    buffer,
    begin(id) {
      Atomics.store(ids, RUNNING, id);
      return !isCancelled(id);
    },
    end: () => void Atomics.store(ids, RUNNING, 0),
    setConnection: (value) => void Atomics.store(address, 0, BigInt(value)),
    runningId: () => Atomics.load(ids, RUNNING),
    connection: () => Number(Atomics.load(address, 0)),
    requestCancel: (id) => void Atomics.store(ids, CANCELLED, id),
    isCancelled,
  };
}
