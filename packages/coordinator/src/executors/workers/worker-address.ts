/** Where a worker listens. */
export interface WorkerAddress {
  /** `10.0.0.7:50052`, `[fd00::7]:50052`: as it is shown, and what tells workers apart. */
  readonly text: string;
  readonly host: string;
  readonly port: number;
  /** The name that its certificate has, where that is not the host. */
  readonly certificateName?: string;
}

/** Of a text that the configuration has checked. */
export function parseWorkerAddress(text: string): WorkerAddress {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  return { text, host, port: Number(text.slice(colon + 1)) };
}

export function workerAddress(host: string, port: number, certificateName: string): WorkerAddress {
  return { text: `${host.includes(':') ? `[${host}]` : host}:${port}`, host, port, certificateName };
}
