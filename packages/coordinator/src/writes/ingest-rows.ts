/** Rows that a client uploads as Arrow become rows of a table: in bounded memory, by one commit, all of them or none. */
import { QueryError } from '@svc/base';
import type { IngestTarget, UploadedMessage, UploadedRows } from '@svc/flight';
import { encapsulateHeader } from '@svc/flight/arrow';
import { fragmentProtocolVersion, type TargetColumn } from '@svc/fragment-fn';
import { commitWithRetry, type LoadedTable, replacedTable, type TableDefinition } from '@svc/lake';
import type { Schema } from 'apache-arrow';
import { ownerOf } from '../planner/planner-dependencies.js';
import { engineSession } from '../planner/stub-planning.js';
import { type InsertRules, insertRules, newTableRules, permitInsert } from '../policy/insert-rules.js';
import { isCode, writablePlace } from './change-catalog.js';
import { allColumns } from './create-table-as.js';
import { arrowSchemaOf, landingTable } from './landed-rows.js';
import { type PlacedFiles, placeFiles } from './place-files.js';
import { columnsOfArrow } from './query-columns.js';
import { commitReplacement, permitReplacement } from './replace-table.js';
import { tableDefinition } from './table-definition.js';
import {
  appendOf,
  commitNewTable,
  currentFields,
  discardOnFailure,
  type RowsToWrite,
  targetColumns,
  type WriteDependencies,
  type WriteOptions,
  writeRows,
} from './write-rows.js';

export interface IngestOptions extends Pick<WriteOptions, 'session' | 'queryId' | 'signal'> {
  /** Told which policies the rows are checked by, before any is read. */
  readonly onPolicies?: (names: readonly string[]) => void;
}

/**
 * Answers the number of rows. Throws ALREADY_EXISTS, TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, BINDING_ERROR and NOT_SUPPORTED
 * naming the column that does not fit, all of these before a row is read; EVALUATION_ERROR of a row that the table cannot
 * have; and what `rows` throws. After an error nothing is left behind.
 */
export async function ingestRows(
  target: IngestTarget,
  rows: UploadedRows,
  dependencies: WriteDependencies,
  options: IngestOptions,
): Promise<bigint> {
  const { session, signal } = options;
  const change = {
    settings: session.settings,
    catalogs: dependencies.planner.catalogsToChange(session),
    signal,
  };
  const place = writablePlace(nameParts(target, session.settings.schema), change);
  const upload: Upload = { schema: arrowSchemaOf(rows.schema), rows, name: place.name, place };
  checkNames(upload);
  const existing = await place.writable.loadTable(place.identifier, { signal }).catch((error: unknown) => {
    if (isCode(error, 'TABLE_NOT_FOUND') && target.ifNotExists === 'create') return undefined;
    throw error;
  });
  if (existing === undefined) return await ingestNewTable(upload, dependencies, options);
  switch (target.ifExists) {
    case 'append':
      return await ingestAppend(upload, existing, dependencies, options);
    case 'replace':
      return await ingestReplacement(upload, existing, dependencies, options);
    case 'fail':
      throw new QueryError('ALREADY_EXISTS', `Table ${place.name} exists already.`);
  }
}

interface Upload {
  readonly schema: Schema;
  readonly rows: UploadedRows;
  /** Of the table, for messages. */
  readonly name: string;
  readonly place: ReturnType<typeof writablePlace>;
}

function nameParts({ catalog, schema, table }: IngestTarget, defaultSchema: string | undefined) {
  if (catalog === undefined) return schema === undefined ? [table] : [schema, table];
  const within = schema ?? defaultSchema;
  if (within === undefined)
    throw new QueryError('SCHEMA_NOT_FOUND', `The ingest of table "${table}" names a catalog but no schema.`);
  return [catalog, within, table];
}

function checkNames({ schema }: Upload): void {
  if (schema.fields.length === 0)
    throw new QueryError('INVALID_ARGUMENT', 'The rows of an ingest must have columns.');
  const names = new Set<string>();
  for (const { name } of schema.fields) {
    if (names.has(name.toLowerCase()))
      throw new QueryError(
        'BINDING_ERROR',
        `Column ${JSON.stringify(name)} is twice in the rows of the ingest; names do not differ by case.`,
      );
    names.add(name.toLowerCase());
  }
}

async function ingestAppend(
  upload: Upload,
  table: LoadedTable,
  dependencies: WriteDependencies,
  options: IngestOptions,
): Promise<bigint> {
  const { schema, name, place } = upload;
  permitInsert(dependencies.planner, { session: options.session, catalog: place.catalog, table });
  const names = schema.fields.map((field) => field.name);
  const columns = targetColumns({ columns: names }, name, currentFields(table), names.length);
  const { session, signal } = options;
  const rules = await insertRules(dependencies.planner, {
    ...{ session, catalog: place.catalog, table, columns, signal },
    nowMs: dependencies.planner.now().getTime(),
  });
  options.onPolicies?.(rules.applied);
  const placed = placeFiles(table, table.store);
  return await discardOnFailure(placed, async () => {
    const rowCount = await writeUpload({ upload, dependencies, options, table, columns, placed, rules });
    if (placed.dataFiles.length > 0)
      await commitWithRetry({
        catalog: place.writable,
        identifier: table.identifier,
        change: appendOf(placed.dataFiles, table, dependencies),
        signal: options.signal,
      });
    return rowCount;
  });
}

async function ingestReplacement(
  upload: Upload,
  existing: LoadedTable,
  dependencies: WriteDependencies,
  options: IngestOptions,
): Promise<bigint> {
  const { place } = upload;
  const { session, signal } = options;
  permitReplacement(dependencies.planner, session, place);
  const definition = definitionOf(upload);
  const table = replacedTable(existing, definition);
  const placed = placeFiles(table, table.store);
  return await discardOnFailure(placed, async () => {
    const columns = allColumns(table);
    const rowCount = await writeUpload({ upload, dependencies, options, table, columns, placed });
    const { dataFiles } = placed;
    await commitReplacement({ place, definition, target: table, dataFiles, dependencies, session, signal });
    return rowCount;
  });
}

async function ingestNewTable(
  upload: Upload,
  dependencies: WriteDependencies,
  options: IngestOptions,
): Promise<bigint> {
  const { place } = upload;
  const { session, signal } = options;
  const table = await place.writable.stageTable(place.identifier, definitionOf(upload), { signal });
  const placed = placeFiles(table, table.store);
  try {
    return await discardOnFailure(placed, async () => {
      const columns = allColumns(table);
      const rules = await newTableRules(dependencies.planner, {
        ...{ session, catalog: place.catalog, table, columns, signal },
        nowMs: dependencies.planner.now().getTime(),
      });
      options.onPolicies?.(rules.applied);
      const rowCount = await writeUpload({ upload, dependencies, options, table, columns, placed, rules });
      await commitNewTable(table, placed.dataFiles, dependencies, place.writable, signal).catch(
        (error: unknown) => {
          throw isCode(error, 'ALREADY_EXISTS') ? madeMeanwhile(upload, error) : error;
        },
      );
      return rowCount;
    });
  } catch (error) {
    if (!isCode(error, 'COMMIT_OUTCOME_UNKNOWN')) await place.writable.discardTable(table);
    throw error;
  }
}

/** There was no such table when the rows began to come, and they do not come again. */
function madeMeanwhile({ name }: Upload, cause: unknown): QueryError {
  const message = `Table ${name} was created by another writer while its rows were sent: send them again.`;
  return new QueryError('COMMIT_CONFLICT', message, { cause });
}

function definitionOf({ schema }: Upload): TableDefinition {
  return tableDefinition({ partitioning: [], properties: [], comment: undefined }, columnsOfArrow(schema));
}

interface UploadToWrite {
  readonly upload: Upload;
  readonly dependencies: WriteDependencies;
  readonly options: IngestOptions;
  readonly table: RowsToWrite['table'];
  readonly columns: readonly TargetColumn[];
  readonly placed: PlacedFiles;
  readonly rules?: InsertRules;
}

/**
 * How much of an upload lies in an engine at a time, as Arrow: it becomes files then. Each round makes a file of each
 * partition, so that small ones would scatter the table.
 */
const roundBytes = 512 * 2 ** 20;

async function writeUpload({ upload, dependencies, options, ...target }: UploadToWrite): Promise<bigint> {
  const { session } = options;
  const { limits } = dependencies.planner;
  const rounds = uploadRounds(upload.rows);
  let rowCount = 0n;
  do {
    const landing = landingTable(upload.schema);
    const written = await writeRows({
      ...target,
      dependencies,
      options,
      stores: [],
      fragment: {
        ...engineSession([], session.settings),
        protocolVersion: fragmentProtocolVersion,
        fragmentId: 0,
        owner: ownerOf(session, dependencies.planner.policies),
        sql: `SELECT * FROM ${landing.name}`,
        setup: [],
        tables: [],
        views: [],
        arrow: 'client',
        limits: { ...limits, timeoutMs: session.settings.queryTimeoutMs ?? limits.timeoutMs },
      },
      fill: async (lease, signal) => {
        await landing.fill(lease, rounds.next(), signal);
      },
    });
    rowCount += written.rowCount;
  } while (!rounds.isEnded());
  return rowCount;
}

/** Batches with less are put together with their header: the engine is sent fewer pieces. */
const smallBodyBytes = 64 * 1024;
const endOfStream = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** The upload as one Arrow stream after the other; it is closed by whoever opened it. Dictionaries hold for all that follows: with them there is one. */
function uploadRounds({ schema, messages }: UploadedRows) {
  const iterator = messages[Symbol.asyncIterator]();
  let isEnded = false;
  return {
    isEnded: () => isEnded,
    async *next(): AsyncGenerator<Uint8Array, void, undefined> {
      yield schema;
      let bytes = 0;
      let mayEnd = true;
      while (!mayEnd || bytes < roundBytes) {
        const next = await iterator.next();
        if (next.done) {
          isEnded = true;
          break;
        }
        if (next.value.kind === 'dictionary') mayEnd = false;
        bytes += next.value.body.length;
        yield* piecesOf(next.value);
      }
      yield endOfStream;
    },
  };
}

function* piecesOf({ header, body }: UploadedMessage): Generator<Uint8Array> {
  const head = encapsulateHeader(header);
  if (body.length < smallBodyBytes) {
    yield Buffer.concat([head, body]);
    return;
  }
  yield head;
  yield body;
}
