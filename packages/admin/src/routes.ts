import { type Logger, metricsContentType } from '@svc/base';
import type { AdminBackend } from './backend.js';
import { refreshCatalogs } from './refresh-catalogs.js';
import { errorReply, jsonReply, type Reply, textReply } from './reply.js';
import type { AdminRequest } from './request.js';

/** What a path answers by method. HEAD follows GET. */
type Handler = (request: AdminRequest) => Reply | Promise<Reply>;
type Methods = Readonly<Partial<Record<'GET' | 'POST', Handler>>>;
export type Routes = ReadonlyMap<string, Methods>;

/** The metrics port: nothing but the scrape. */
export function metricsRoutes(backend: AdminBackend): Routes {
  return new Map<string, Methods>([
    [
      '/metrics',
      {
        GET: async () => ({
          status: 200,
          contentType: metricsContentType,
          body: await backend.metricsText(),
        }),
      },
    ],
  ]);
}

/**
 * The health port, specification sections 4.2 and 4.4. The dashboard and its read API (section 4.3) exist only while
 * `metrics.web_ui` is true, which no configuration can say yet: their paths are unknown and answer 404.
 */
export function healthRoutes(backend: AdminBackend, logger: Logger): Routes {
  return new Map<string, Methods>([
    ['/healthz', { GET: () => textReply(200, 'ok') }],
    [
      '/readyz',
      { GET: () => (backend.isReady() ? textReply(200, 'ready') : textReply(503, 'initializing')) },
    ],
    ['/api/v1/status', { GET: () => jsonReply(200, backend.status()) }],
    ['/api/v1/catalogs/refresh', { POST: (request) => refreshCatalogs(backend, logger, request) }],
  ]);
}

/** The answer to a method and a path (undefined: there is none). Throws what the backend throws. */
export async function answer(
  routes: Routes,
  method: string,
  path: string | undefined,
  request: AdminRequest,
): Promise<Reply> {
  if (path === undefined) return errorReply(400, 'INVALID_ARGUMENT', 'The request target is not a path.');
  const methods = routes.get(path);
  if (methods === undefined) return errorReply(404, 'NOT_FOUND', 'Nothing is served under this path.');
  const handler =
    method === 'GET' || method === 'HEAD' ? methods.GET : method === 'POST' ? methods.POST : undefined;
  if (handler !== undefined) return handler(request);
  const allowed = [...(methods.GET ? ['GET', 'HEAD'] : []), ...(methods.POST ? ['POST'] : [])].join(', ');
  return errorReply(405, 'METHOD_NOT_ALLOWED', `This path answers ${allowed}.`, { allow: allowed });
}

/** RFC 9112 section 3.2: a path with an optional query, or the absolute form that a proxy sends. */
export function pathOf(target: string): string | undefined {
  if (target.startsWith('/')) return target.split('?', 1)[0];
  return /^https?:/i.test(target) && URL.canParse(target) ? new URL(target).pathname : undefined;
}
