export { encapsulateHeader, splitIpcStream } from './arrow/ipc-message.js';
export type {
  CallContext,
  Credentials,
  FlightSqlBackend,
  IngestTarget,
  PlannedQuery,
  PreparedStatement,
  ResultMessage,
  ResultStream,
  SessionOptionValue,
  SetSessionOptionError,
  SqlInfoFacts,
  TableFilter,
  TableRow,
  UploadedMessage,
  UploadedRows,
} from './backend.js';
export type { ClientTls } from './client/channel.js';
export {
  createFlightClient,
  type FlightClient,
  type FlightClientOptions,
  type FlightQuery,
} from './client/flight-client.js';
export { createFlightServer, type FlightServerOptions } from './server/flight-server.js';
export type { FlightServer, ServerTls } from './server/grpc-listener.js';
export { compileLikePattern } from './sql/like-pattern.js';
export type { Exchange, ExchangeMessage, WorkerBackend } from './worker/worker-backend.js';
export {
  createWorkerClient,
  type ExchangeCall,
  type WorkerClient,
  type WorkerClientOptions,
} from './worker/worker-client.js';
export { createWorkerServer, type WorkerServerOptions } from './worker/worker-server.js';
