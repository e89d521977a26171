/**
 * DuckDB's error texts → QueryError. Every text starts with the name of its exception type (the C API gives no type for
 * a failed prepare), which decides the code; what a user cannot use is cut from the message.
 */
import { basename } from 'node:path';
import { type ErrorCode, QueryError } from '@svc/base';

/** Codes by exception type, as the engine spells it before " Error: ". */
const codeByType: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['Parser', 'SYNTAX_ERROR'],
  ['Syntax', 'SYNTAX_ERROR'],
  ['Binder', 'BINDING_ERROR'],
  ['Catalog', 'BINDING_ERROR'],
  ['Planner', 'BINDING_ERROR'],
  ['Mismatch Type', 'BINDING_ERROR'],
  ['Invalid type', 'BINDING_ERROR'],
  ['Unknown Type', 'BINDING_ERROR'],
  ['Conversion', 'EVALUATION_ERROR'],
  ['Out of Range', 'EVALUATION_ERROR'],
  ['Invalid Input', 'EVALUATION_ERROR'],
  ['Invalid', 'EVALUATION_ERROR'],
  ['Divide by Zero', 'EVALUATION_ERROR'],
  ['Decimal', 'EVALUATION_ERROR'],
  ['Constraint', 'EVALUATION_ERROR'],
  ['Expression', 'EVALUATION_ERROR'],
  ['Executor', 'EVALUATION_ERROR'],
  ['Sequence', 'EVALUATION_ERROR'],
  ['Dependency', 'EVALUATION_ERROR'],
  ['TransactionContext', 'EVALUATION_ERROR'],
  ['Object Size', 'EVALUATION_ERROR'],
  ['Parameter Not Resolved', 'INVALID_PARAMETER'],
  ['Parameter Not Allowed', 'INVALID_PARAMETER'],
  ['Not implemented', 'NOT_SUPPORTED'],
  ['Missing Extension', 'NOT_SUPPORTED'],
  ['Extension Autoloading', 'NOT_SUPPORTED'],
  ['Permission', 'STATEMENT_NOT_ALLOWED'],
  ['Settings', 'STATEMENT_NOT_ALLOWED'],
  ['Invalid Configuration', 'STATEMENT_NOT_ALLOWED'],
  ['Out of Memory', 'OUT_OF_MEMORY'],
  ['INTERRUPT', 'CANCELLED'],
  ['IO', 'STORAGE_ERROR'],
  ['HTTP', 'STORAGE_ERROR'],
  ['Serialization', 'INTERNAL_ERROR'],
  ['FATAL', 'INTERNAL_ERROR'],
  ['INTERNAL', 'INTERNAL_ERROR'],
]);

const typePattern = /^([A-Za-z][A-Za-z ]*?) Error: /;
const maxMessageLength = 4_000;

/** Texts of an exhausted disk or spill budget, whatever their exception type. */
const diskFullPattern =
  /no space left on device|disk quota exceeded|max_temp_directory_size|could not write all bytes/i;

/** Errors of the Parquet reader name the file in quotes; users cannot reach files in any other way. */
const parquetFilePattern =
  /(?:file|parquet)[^"'\n]*["']([^"'\n]+\.parquet)["']|["']([^"'\n]+\.parquet)["'][^\n]*(?:corrupt|magic|truncat)/i;

/**
 * The error for a text of the engine. `folders` are the instance's own folders: they are removed from the message,
 * so that of a staged file only its name is left.
 */
export function engineError(text: string | null, folders: readonly string[]): QueryError {
  const raw = wellFormed(text ?? '');
  const type = typePattern.exec(raw)?.[1] ?? '';
  const message = userMessage(raw.replace(typePattern, ''), folders);
  const code = codeOf(type, message);
  if (code === 'INTERNAL_ERROR')
    return new QueryError(code, `The engine reported an internal error: ${firstLine(message)}`);
  if (code === 'CANCELLED') return new QueryError(code, 'The query was cancelled.');
  if (code === 'DATA_CORRUPT') {
    const match = parquetFilePattern.exec(message);
    const file = basename(match?.[1] ?? match?.[2] ?? '');
    return new QueryError(code, `The Parquet file "${file}" is damaged: ${firstLine(message)}`);
  }
  return new QueryError(code, message);
}

/** A fatal or internal error leaves the instance in a state that nothing may build on. */
export function leavesInstanceUnusable(error: QueryError): boolean {
  return error.code === 'INTERNAL_ERROR';
}

function codeOf(type: string, message: string): ErrorCode {
  const code = codeByType.get(type) ?? 'INTERNAL_ERROR';
  if ((type === 'IO' || type === 'Out of Memory') && diskFullPattern.test(message)) return 'DISK_FULL';
  if (type === 'IO' && /no files found|no such file|cannot open file/i.test(message))
    return 'DATA_FILE_MISSING';
  if (
    (type === 'Invalid Input' || type === 'IO' || type === 'Serialization' || type === 'Invalid') &&
    parquetFilePattern.test(message)
  )
    return 'DATA_CORRUPT';
  if (type === 'Invalid Input') {
    if (message.startsWith('No statement to prepare')) return 'SYNTAX_ERROR';
    if (message.startsWith('Cannot prepare multiple statements')) return 'SYNTAX_ERROR';
    if (/parameters? .*supplied|^Values were not provided|excess parameters/i.test(message))
      return 'INVALID_PARAMETER';
    if (/configuration has been locked/i.test(message)) return 'STATEMENT_NOT_ALLOWED';
  }
  if (type === 'Catalog') {
    if (/^(Table|View) with name .* does not exist/.test(message)) return 'TABLE_NOT_FOUND';
    if (/^Schema with name .* does not exist/.test(message)) return 'SCHEMA_NOT_FOUND';
  }
  if (type === 'Binder' && /^Catalog "[^"]*" does not exist/.test(message)) return 'CATALOG_NOT_FOUND';
  return code;
}

/** Cuts stack traces, advice on settings that users cannot change, and the instance's folders. */
function userMessage(text: string, folders: readonly string[]): string {
  let message = text;
  for (const marker of [
    '\n\nStack Trace:',
    '\nStack Trace:',
    '\n\nPossible solutions:',
    '\n\nUse "SET ',
    '\nThis error signals an assertion failure',
    '\n\nThis error signals an assertion failure',
  ]) {
    const at = message.indexOf(marker);
    if (at !== -1) message = message.slice(0, at);
  }
  for (const folder of folders) {
    const withSlash = folder.endsWith('/') ? folder : `${folder}/`;
    if (folder === '' || !message.includes(withSlash)) continue;
    // An excerpt of a statement that names our folders is of a statement of ours: no user can place it.
    const excerpt = message.indexOf('\n\nLINE ');
    message = (excerpt === -1 ? message : message.slice(0, excerpt)).replaceAll(withSlash, '');
  }
  const trimmed = message.trimEnd();
  return trimmed.length <= maxMessageLength ? trimmed : `${wellFormed(trimmed.slice(0, maxMessageLength))}…`;
}

function firstLine(message: string): string {
  const end = message.indexOf('\n');
  return end === -1 ? message : message.slice(0, end);
}

/** Replaces lone surrogates and control characters other than line breaks and tabs. */
function wellFormed(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\p{Cc}/gu, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));
}
