import type { GrantedPrefix, StoreGrant } from '@svc/lake';
import { flag, list, maybe, record, required, text, uint, union } from './codec.js';

const prefix = record<GrantedPrefix>({
  prefix: required(1, text),
  endpoint: maybe(2, text),
  region: maybe(3, text),
  pathStyle: maybe(4, flag),
  accessKeyId: required(5, text),
  secretAccessKey: required(6, text),
  sessionToken: maybe(7, text),
  expiresAtMs: maybe(8, uint),
});

export const storeGrant = union<StoreGrant>({
  s3: [1, { scope: maybe(1, text), prefixes: required(2, list(prefix)) }],
  files: [2, {}],
});
