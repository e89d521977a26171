import type { EngineTableName } from '../api.js';
import type { EngineConnection } from './connection.js';

export class TableIngest {
  constructor(_connection: EngineConnection, _table: EngineTableName, _onEnd: (error: unknown) => void) {}
  close(): void {}
}
