export { encapsulateHeader, splitIpcStream } from './arrow/ipc-message.js';
export type {
  CallContext,
  Credentials,
  FlightSqlBackend,
  PlannedQuery,
  PreparedStatement,
  ResultMessage,
  ResultStream,
  SessionOptionValue,
  SetSessionOptionError,
  SqlInfoFacts,
  TableFilter,
  TableRow,
} from './backend.js';
export {
  type CallOptions,
  type ClientPreparedStatement,
  createFlightClient,
  type FlightClient,
  type FlightClientOptions,
  type FlightQuery,
} from './client/flight-client.js';
export type { IpcMessage } from './framing/flight-data.js';
export {
  createFlightServer,
  type FlightServer,
  type FlightServerKeepalive,
  type FlightServerLimits,
  type FlightServerOptions,
} from './server/flight-server.js';
export { compileLikePattern, escapeLikePattern, type LikePatternOptions } from './sql/like-pattern.js';
