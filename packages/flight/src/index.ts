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
export { createFlightClient, type FlightClient, type FlightClientOptions } from './client/flight-client.js';
export { createFlightServer, type FlightServer, type FlightServerOptions } from './server/flight-server.js';
export { compileLikePattern } from './sql/like-pattern.js';
