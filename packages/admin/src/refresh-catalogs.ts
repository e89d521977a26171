/** `POST /api/v1/catalogs/refresh` (spec section 4.4). */
import type { Logger } from '@svc/base';
import { authorizeAdmin } from './authorization.js';
import type { AdminBackend } from './backend.js';
import { errorReply, jsonReply, type Reply } from './reply.js';
import type { AdminRequest } from './request.js';

const maxBodyBytes = 64 * 1024;
const maxUsernameLength = 256;

/** Who calls is known before anything of the body is read. */
export async function refreshCatalogs(
  backend: AdminBackend,
  logger: Logger,
  request: AdminRequest,
): Promise<Reply> {
  const authorized = await authorizeAdmin(backend, request);
  if (authorized.kind === 'refused') return authorized.reply;
  const body = await request.readObject(maxBodyBytes);
  if (body.kind === 'refused') return body.reply;
  const { username, ...others } = body.object ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return invalid(
      `The body has a field ${JSON.stringify(unknown.slice(0, 64))}; the only one that it may have is "username".`,
    );
  if (username === undefined) {
    await backend.refreshCatalogs(undefined);
  } else if (typeof username === 'string' && username.length > 0 && username.length <= maxUsernameLength) {
    await backend.refreshCatalogs(username);
  } else return invalid(`"username" must be a string of 1 to ${maxUsernameLength} characters.`);
  const invalidated = username === undefined ? 'all' : `session:${username}`;
  logger.log('info', 'An admin had the catalog caches dropped.', { user: authorized.username, invalidated });
  return jsonReply(200, { invalidated });
}

function invalid(message: string): Reply {
  return errorReply(400, 'INVALID_ARGUMENT', message);
}
