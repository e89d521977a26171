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
