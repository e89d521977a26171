/** arrow.flight.protocol.FlightService with bytes for bodies: messages are encoded and decoded by the handlers. */
import type { ServiceDefinition } from '@grpc/grpc-js';
import { asBuffer } from '../arrow/as-buffer.js';
import { serializeWithOneCopy } from '../framing/flight-data.js';

export const serviceName = 'arrow.flight.protocol.FlightService';
const PREFIX = `/${serviceName}/`;

/** Which side of a method streams. */
const streaming = {
  Handshake: { request: true, response: true },
  ListFlights: { request: false, response: true },
  GetFlightInfo: { request: false, response: false },
  PollFlightInfo: { request: false, response: false },
  GetSchema: { request: false, response: false },
  DoGet: { request: false, response: true },
  DoPut: { request: true, response: true },
  DoExchange: { request: true, response: true },
  DoAction: { request: false, response: true },
  ListActions: { request: false, response: true },
} as const;

export type FlightMethod = keyof typeof streaming;

export const flightMethods = Object.keys(streaming) as readonly FlightMethod[];

/** The HTTP/2 path of a method. */
export function methodPath(method: FlightMethod): string {
  return `${PREFIX}${method}`;
}

const methodsByPath: ReadonlyMap<string, FlightMethod> = new Map(
  flightMethods.map((method) => [methodPath(method), method]),
);

/** The method of a path that this service registered. */
export function methodOfPath(path: string): FlightMethod {
  const method = methodsByPath.get(path);
  if (method === undefined) throw new Error(`${path} is not a method of the Flight service.`);
  return method;
}

const bytes = (value: Buffer) => value;

export const flightService: ServiceDefinition = Object.fromEntries(
  flightMethods.map((method) => [
    method,
    {
      path: methodPath(method),
      requestStream: streaming[method].request,
      responseStream: streaming[method].response,
      requestSerialize: asBuffer,
      requestDeserialize: bytes,
      responseSerialize: method === 'DoGet' || method === 'DoExchange' ? serializeWithOneCopy : asBuffer,
      responseDeserialize: bytes,
    },
  ]),
);
