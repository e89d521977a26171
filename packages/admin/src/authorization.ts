/** The gate in front of what only admins may do: it fails closed (spec sections 5.6 and 7). */
import { hasBearerForm, QueryError } from '@svc/base';
import type { AdminBackend, AdminCaller } from './backend.js';
import { errorReply, type Reply } from './reply.js';
import type { AdminRequest } from './request.js';

/** What a request to an endpoint for admins comes to: the admin, or the refusal. */
export type Authorized =
  | { readonly kind: 'admin'; readonly username: string }
  | { readonly kind: 'refused'; readonly reply: Reply };

/** One header `Authorization: Bearer <token>`; never a query, a cookie or a body. */
export async function authorizeAdmin(backend: AdminBackend, request: AdminRequest): Promise<Authorized> {
  const bearer = bearerOf(request);
  if (bearer === undefined)
    return refused(
      new QueryError(
        'UNAUTHENTICATED',
        'This endpoint needs one header "Authorization: Bearer <token>" with the token of an admin.',
      ),
    );
  const caller: AdminCaller = { clientAddress: request.clientAddress, signal: request.signal };
  try {
    return { kind: 'admin', ...(await backend.authorizeAdmin(bearer, caller)) };
  } catch (caught) {
    const error = QueryError.from(caught);
    if (error.code === 'INTERNAL_ERROR') throw error;
    return refused(error);
  }
}

function bearerOf({ authorization }: AdminRequest): string | undefined {
  const [header, ...others] = authorization;
  if (header === undefined || others.length > 0) return undefined;
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1];
  return token !== undefined && hasBearerForm(token) ? token : undefined;
}

/**
 * 403 is for who is known and no admin, 503 for who could not be asked for at the identity provider (the token may be
 * good: a client that takes 401 for an answer would throw it away), 401 for everybody else.
 */
function refused(error: QueryError): Authorized {
  const { code, message, grpcStatus } = error;
  const reply = (status: number, headers: Readonly<Record<string, string>> = {}): Authorized => ({
    kind: 'refused',
    reply: errorReply(status, code, message, headers),
  });
  switch (grpcStatus) {
    case 'PERMISSION_DENIED':
      return reply(403);
    case 'UNAVAILABLE':
    case 'RESOURCE_EXHAUSTED':
    case 'CANCELLED':
    case 'DEADLINE_EXCEEDED':
      return reply(503);
    default:
      return reply(401, { 'www-authenticate': 'Bearer realm="svc"' });
  }
}
