/** A service behind the Flight server, by hand: one user, two tables, and statements whose text says what they do. */
import { QueryError } from '@svc/base';
import { Float64, Int64, type Schema, Utf8 } from 'apache-arrow';
import { columnData, encodeColumns, encodeRows, encodeSchema, schemaOf } from '../arrow/table-message.js';
import type {
  CallContext,
  Credentials,
  FlightSqlBackend,
  PreparedStatement,
  ResultMessage,
  ResultStream,
  SessionOptionValue,
  TableRow,
} from '../backend.js';
import type { IpcMessage } from '../framing/flight-data.js';
import { compileLikePattern } from '../sql/like-pattern.js';

export interface FakeSession {
  readonly user: string;
  readonly options: Map<string, SessionOptionValue>;
}

/** What a test wants to know afterwards. */
export interface FakeRecord {
  readonly contexts: CallContext[];
  readonly statements: string[];
  readonly boundParameters: Uint8Array[];
  signIns: number;
  pulled: number;
  released: number;
  /** Sources that were ended early. */
  returned: number;
  /** Awaited after each message of an ingest. */
  onIngested?: () => Promise<void>;
}

export interface FakeBackend extends FlightSqlBackend<FakeSession> {
  readonly record: FakeRecord;
  readonly sessions: Map<string, FakeSession>;
}

/** What a statement answers; by default two columns and two rows. */
export type FakeStatement = (sql: string, context: CallContext, record: FakeRecord) => ResultStream;

const sampleSchema = schemaOf([
  { name: 'id', type: new Int64(), nullable: false },
  { name: 'name', type: new Utf8(), nullable: true },
]);
const sampleRows = [
  [1n, 'one'],
  [2n, null],
] as const;
const noParameters = encodeSchema(schemaOf([]));
const tables: readonly TableRow[] = [
  { catalog: 'lake', schema: 'main', table: 'orders', type: 'TABLE' },
  { catalog: 'lake', schema: 'main', table: 'order_lines', type: 'VIEW' },
];

export function createFakeBackend(statement: FakeStatement = sampleStatement): FakeBackend {
  const record: FakeRecord = {
    contexts: [],
    statements: [],
    boundParameters: [],
    signIns: 0,
    pulled: 0,
    released: 0,
    returned: 0,
  };
  const sessions = new Map<string, FakeSession>();
  const plan = (sql: string) => {
    record.statements.push(sql);
    return { handle: Buffer.from(sql), schema: encodeSchema(sampleSchema), expiresAtMs: 1_700_000_000_000 };
  };
  return {
    record,
    sessions,
    async signIn(credentials, context) {
      record.signIns++;
      return signIn(credentials, context, sessions, record.signIns);
    },
    async session(bearer, context) {
      record.contexts.push(context);
      const session = sessions.get(bearer);
      if (session === undefined) throw new QueryError('SESSION_EXPIRED', 'The session is unknown.');
      return session;
    },
    async planStatement(_session, sql) {
      return plan(sql);
    },
    async run(_session, handle, context) {
      return statement(Buffer.from(handle).toString(), context, record);
    },
    async cancel(_session, handle) {
      record.statements.push(`cancel ${Buffer.from(handle).toString()}`);
      return 'cancelled';
    },
    async renew(_session, handle) {
      record.statements.push(`renew ${Buffer.from(handle).toString()}`);
      return 1_800_000_000_000;
    },
    async prepare(_session, sql): Promise<PreparedStatement> {
      return {
        handle: Buffer.from(sql),
        datasetSchema: plan(sql).schema,
        parameterSchema: sql.includes('?')
          ? encodeSchema(schemaOf([{ name: '1', type: new Int64(), nullable: true }]))
          : noParameters,
        isUpdate: false,
      };
    },
    async bind(_session, prepared, parameters) {
      record.boundParameters.push(parameters);
      return Buffer.concat([prepared, Buffer.from(' bound')]);
    },
    async update(_session, sql) {
      record.statements.push(sql);
      return 3n;
    },
    async updatePrepared(_session, prepared, parameters) {
      record.statements.push(Buffer.from(prepared).toString());
      if (parameters !== undefined) record.boundParameters.push(parameters);
      return 5n;
    },
    async ingest(_session, target, rows) {
      record.statements.push(`ingest ${JSON.stringify(target)}`);
      let count = 0n;
      for await (const _message of rows.messages) {
        record.pulled++;
        await record.onIngested?.();
        count++;
      }
      return count;
    },
    async planPrepared(_session, prepared) {
      return plan(Buffer.from(prepared).toString());
    },
    async closePrepared() {},
    async catalogs() {
      return ['lake', 'archive'];
    },
    async schemas(_session, catalog, pattern) {
      const matches = compileLikePattern(pattern);
      return [
        { catalog: 'lake', schema: 'main' },
        { catalog: 'lake', schema: 'a_b' },
      ].filter((row) => (catalog ?? row.catalog) === row.catalog && matches(row.schema));
    },
    async *tables(_session, filter) {
      const matches = compileLikePattern(filter.tablePattern);
      for (const row of tables.filter(({ table }) => matches(table)))
        yield filter.includeSchema ? { ...row, arrowSchema: encodeSchema(sampleSchema) } : row;
    },
    sqlInfo: () => ({
      serverName: 'svc',
      serverVersion: '0.1.0',
      arrowVersion: '21.2.0',
      keywords: ['QUALIFY'],
      numericFunctions: ['abs'],
      stringFunctions: ['upper'],
      systemFunctions: [],
      datetimeFunctions: ['now'],
    }),
    async closeSession(session) {
      for (const [bearer, known] of sessions) if (known === session) sessions.delete(bearer);
    },
    sessionOptions: (session) => session.options,
    async setSessionOptions(session, options) {
      const errors = new Map<string, 'invalid-name'>();
      for (const [name, value] of options) {
        if (name === 'unknown') errors.set(name, 'invalid-name');
        else if (value === undefined) session.options.delete(name);
        else session.options.set(name, value);
      }
      return errors;
    },
  };
}

function signIn(
  credentials: Credentials,
  context: CallContext,
  sessions: Map<string, FakeSession>,
  count: number,
): string {
  if (credentials.kind === 'bearer') {
    if (!sessions.has(credentials.token)) throw new QueryError('UNAUTHENTICATED', 'The token is not valid.');
    return credentials.token;
  }
  if (!context.isConfidential)
    throw new QueryError('INSECURE_TRANSPORT', 'A password is taken over TLS only.');
  if (credentials.username !== 'alice' || credentials.password !== 'secret')
    throw new QueryError('UNAUTHENTICATED', 'The user or the password is wrong.');
  const bearer = `session-${count}`;
  sessions.set(bearer, { user: credentials.username, options: new Map() });
  return bearer;
}

/** Two rows. */
export function sampleStatement(_sql: string, _context: CallContext, record: FakeRecord): ResultStream {
  return resultOf(sampleSchema, encodeRows(sampleSchema, sampleRows), record);
}

/** A result of the given messages that counts what is pulled, released and ended early. */
export function resultOf(
  schema: Schema,
  messages: Iterable<IpcMessage> | AsyncIterable<IpcMessage>,
  record: FakeRecord,
): ResultStream {
  return { schema: encodeSchema(schema), messages: counted(messages, record) };
}

async function* counted(
  messages: Iterable<IpcMessage> | AsyncIterable<IpcMessage>,
  record: FakeRecord,
): AsyncGenerator<ResultMessage> {
  let isComplete = false;
  try {
    for await (const message of messages) {
      record.pulled++;
      let isReleased = false;
      yield {
        ...message,
        release: () => {
          if (isReleased) throw new Error('A message was released twice.');
          isReleased = true;
          record.released++;
        },
      };
    }
    isComplete = true;
  } finally {
    if (!isComplete) record.returned++;
  }
}

const wideSchema = schemaOf(
  [0, 1, 2, 3, 4, 5, 6, 7].map((index) => ({
    name: `c${index}`,
    type: index < 4 ? new Int64() : new Float64(),
    nullable: false,
  })),
);

/** A result of `count` equal batches with bodies of about `bodyBytes`. */
export function wideResult(bodyBytes: number, count: number, record: FakeRecord): ResultStream {
  const rowCount = Math.floor(bodyBytes / 64);
  const children = wideSchema.fields.map((field, column) =>
    columnData(
      field.type,
      Array.from({ length: rowCount }, (_, row) => (column < 4 ? BigInt(row) : row + column / 8)),
    ),
  );
  const [message] = encodeColumns(wideSchema, rowCount, children);
  if (message === undefined) throw new Error('A batch is one message.');
  return resultOf(wideSchema, repeat(message, count), record);
}

function* repeat(message: IpcMessage, count: number): Generator<IpcMessage> {
  for (let index = 0; index < count; index++) yield message;
}
