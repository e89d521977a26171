/** One user's dealings with a REST catalog: every request carries this user's token, and no other. */

import { abortable, QueryError } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { type JsonValue, parseJson, printJson } from '../../iceberg/spec/lossless-json.js';
import type { CatalogCaller } from '../catalog-factory.js';
import { type RestConfig, readConfig } from './rest-config.js';
import { catalogError, generalError } from './rest-errors.js';
import type { RestRoutes } from './rest-routes.js';
import type { RestAnswer, RestRequest, RestService } from './rest-service.js';

export interface RestSessionOptions {
  readonly service: RestService;
  /** With a slash at its end. */
  readonly url: URL;
  readonly warehouse: string | undefined;
  readonly caller: CatalogCaller;
  /** Further headers of each request, told anew each time: where it comes from. Never credentials. */
  readonly correlation: () => Readonly<Record<string, string>>;
}

export interface SessionRequest {
  readonly method?: RestRequest['method'];
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** Path below the service's address, by what the service says of itself. */
export type RoutePath = (routes: RestRoutes) => string;

export class RestSession {
  readonly #options: RestSessionOptions;
  #config: RestConfig | undefined;
  #loading: Promise<RestConfig> | undefined;

  constructor(options: RestSessionOptions) {
    this.#options = options;
  }

  /** Asked once, for all who need it. A failure is thrown, and asked again by the next request. */
  async config(signal?: AbortSignal): Promise<RestConfig> {
    if (this.#config !== undefined) return this.#config;
    this.#loading ??= this.#loadConfig().finally(() => {
      this.#loading = undefined;
    });
    this.#loading.catch(() => undefined); // Whoever waits is told; one who gave up no longer does.
    return await abortable(this.#loading, signal);
  }

  /** Answers whatever status there is; see RestService. */
  async read(path: RoutePath, request: SessionRequest): Promise<RestAnswer> {
    return await this.#send(path, { method: 'GET', ...request }, (each) => this.#options.service.read(each));
  }

  async change(path: RoutePath, request: SessionRequest): Promise<RestAnswer> {
    return await this.#send(path, { method: 'POST', ...request }, (each) =>
      this.#options.service.change(each),
    );
  }

  async #loadConfig(): Promise<RestConfig> {
    const { url, warehouse, service } = this.#options;
    const target = new URL('v1/config', url);
    if (warehouse !== undefined) target.searchParams.set('warehouse', warehouse);
    const what = 'its configuration';
    const answer = await this.#withToken((headers) =>
      service.read({ method: 'GET', url: target, headers, what }),
    );
    if (answer.status !== 200) throw generalError(answer, what);
    this.#config = readConfig(answer, url);
    return this.#config;
  }

  async #send(
    path: RoutePath,
    { method = 'GET', query = {}, headers = {}, body, what, signal }: SessionRequest,
    send: (request: RestRequest) => Promise<RestAnswer>,
  ): Promise<RestAnswer> {
    const { baseUrl, routes } = await this.config(signal);
    const url = new URL(`${baseUrl.href}${withoutSteps(path(routes))}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const text = body === undefined ? {} : { body: printJson(body) };
    return await this.#withToken((own) =>
      send({ method, url, headers: { ...headers, ...own }, ...text, what, signal }),
    );
  }

  /** A token may have been replaced between taking it and its arrival: then the newer one is tried, once. */
  async #withToken(
    send: (headers: Readonly<Record<string, string>>) => Promise<RestAnswer>,
  ): Promise<RestAnswer> {
    const { caller } = this.#options;
    const first = caller.accessToken();
    const answer = await send(this.#headers(first));
    if (answer.status !== 401 && answer.status !== 419) return answer;
    const now = caller.accessToken();
    return now === first ? answer : await send(this.#headers(now));
  }

  #headers(token: string | undefined): Readonly<Record<string, string>> {
    return {
      ...this.#options.correlation(),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }
}

/** Throws INVALID_ARGUMENT for `.` and `..` as a segment, which a URL parser takes for steps however they are encoded. */
function withoutSteps(path: string): string {
  if (path.split('/').every((segment) => !/^(?:\.|%2e){1,2}$/i.test(segment))) return path;
  throw new QueryError(
    'INVALID_ARGUMENT',
    'A schema or table called "." or ".." cannot be asked for over HTTP.',
  );
}

/** The JSON of an answer. Throws CATALOG_ERROR for anything else: HTML, nothing, a cut one. */
export function answerFields({ body }: RestAnswer, what: string): JsonFields {
  try {
    return new JsonFields(
      parseJson(body, `The catalog's answer for ${what}`),
      `The catalog's answer for ${what}`,
    );
  } catch (error) {
    throw catalogError(`answers something that is no JSON object for ${what}`, {
      cause: error,
      retryable: false,
    });
  }
}
