import { randomUUID } from "node:crypto";
import { invalidRequest } from "@nodeloom/kernel";
import { durationHistogram, spanNamer, withRequestContext, type Logger } from "@nodeloom/platform";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import helmet from "helmet";
import { HOOK_PATH } from "./auth/hook";
import { appPages } from "./console/apps";
import { consoleRouter } from "./console/router";
import { allowOrigin, preflight } from "./edge/cors";
import { docsRouter } from "./docs/router";
import { methodNotAllowed, routeNotFound } from "./http/errors";
import { nearestPath } from "./http/nearest-path";
import type { Gateway } from "./edge/gateway";
import { mediaProxy } from "./edge/media-proxy";
import { openApiDocument } from "./docs/openapi";
import { handle } from "./edge/pipeline";
import { countRefusal } from "./edge/rate/counting";
import { protocolOf } from "./http/protocols";
import { renderError, send } from "./edge/reply";
import type { Route } from "./edge/route";
import { routes } from "./endpoints";
import { falProxy } from "./routes/fal/proxy";

const REQUEST_ID = "X-Request-Id";
/** A client's own id is kept if it is safe in headers and logs. */
const REQUEST_ID_FORM = /^[\w.:-]{1,128}$/;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;

export interface AppOptions {
  gateway: Gateway;
  mediaUrl: string;
  publicBaseUrl: string;
  /** Express's trust proxy setting: which peers can state the client's address. */
  trustProxy: number | string[];
  /** Other origins from which the console loads media. */
  mediaOrigins?: readonly string[];
}

/** Gives the request its id, which every log line and every later call includes. */
const identify: RequestHandler = (request, response, next) => {
  const sentId = request.headers["x-request-id"];
  const requestId = typeof sentId === "string" && REQUEST_ID_FORM.test(sentId) ? sentId : randomUUID();
  response.setHeader(REQUEST_ID, requestId);
  withRequestContext({ requestId }, next);
};

const levelOf = (status: number): "error" | "info" | "debug" => {
  if (status >= FIRST_SERVER_ERROR) return "error";
  return status >= FIRST_CLIENT_ERROR ? "info" : "debug";
};

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const requestTook = durationHistogram("nodeloom.http.server.duration", "how long requests of the API took, streams to their end");

/** A hook's path contains its secret. */
const shownPath = (path: string): string => (path.startsWith(HOOK_PATH) ? `${HOOK_PATH}[redacted]` : path);

/** One line and one measurement per request. Logs omit the query; metrics use the template of the route. */
const log =
  (logger: Logger): RequestHandler =>
  (request, response, next) => {
    const startedAtMs = Date.now();
    const { method } = request;
    const path = shownPath(request.path);
    const requestId = response.getHeader(REQUEST_ID);
    const nameSpan = spanNamer();
    response.once("finish", () => {
      const { statusCode: status } = response;
      const { path: template } = (request.route ?? {}) as { path?: unknown };
      const route = typeof template === "string" ? template : "other";
      nameSpan(`${method} ${route}`, { "http.route": route });
      requestTook(Date.now() - startedAtMs, { route, method: METHODS.has(method) ? method : "other", status: String(status) });
      logger[levelOf(status)]({ requestId, method, path, status, ms: Date.now() - startedAtMs }, "request");
    });
    next();
  };

const secure = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { "default-src": ["'none'"], "frame-ancestors": ["'none'"] } },
});

const HTTP_1_0 = "1.0";
/** Rejects requests without exactly one Host header (RFC 9112, 3.2). */
const addressed: RequestHandler = (request, _response, next) => {
  const hosts = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) throw invalidRequest([{ path: "Host", message: "must be given once" }]);
  if (request.headers.host === undefined && request.httpVersion !== HTTP_1_0) {
    throw invalidRequest([{ path: "Host", message: "is required" }]);
  }
  next();
};

/**
 * Evaluates conditional reads by ETag only. `fetch` adds `Cache-Control: no-cache` to requests with If-None-Match, which makes Express send
 * a full response. That header addresses caches (RFC 9111, 5.2.1.4), and the gateway isn't one.
 */
const conditional: RequestHandler = (request, _response, next) => {
  delete request.headers["cache-control"];
  next();
};

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader("Cache-Control", "no-store");
  next();
};

/** Registers the routes. Other methods on a known path get 405. */
const mount = (app: Express, gateway: Gateway, table: readonly Route[]): void => {
  for (const path of new Set(table.map((route) => route.path))) {
    const here = table.filter((route) => route.path === path);
    const entry = app.route(path);
    for (const route of here) entry[route.method.toLowerCase() as "get"](noStore, allowOrigin(gateway, route), handle(gateway, route));
    const allow = here.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    if (here.some(({ app: isForApps }) => isForApps)) entry.options(preflight(gateway, here, allow));
    entry.all(() => {
      throw methodNotAllowed(allow);
    });
  }
};

export const createApp = ({ gateway, mediaUrl, publicBaseUrl, trustProxy, mediaOrigins = [] }: AppOptions): Express => {
  const app = express();
  app.disable("x-powered-by").disable("etag");
  app.enable("case sensitive routing").enable("strict routing");
  app.set("trust proxy", trustProxy).set("query parser", "simple");

  app.use(identify, log(gateway.logger), secure, addressed, conditional, falProxy);
  mount(app, gateway, routes);
  app.use("/media", mediaProxy({ mediaUrl, gateway }));
  app.use(docsRouter({ document: openApiDocument(routes, publicBaseUrl), publicBaseUrl, gateway }));
  app.use(appPages({ gateway, mediaOrigins }));
  app.use(consoleRouter({ mediaOrigins }));
  const paths = [...new Set(routes.map(({ path }) => path))];
  app.use(({ path }) => {
    throw routeNotFound(nearestPath(path, paths));
  });

  // Handles errors outside of routes, such as unknown paths. These requests count against the address.
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const undecodable = error instanceof URIError || (error as { status?: number }).status === FIRST_CLIENT_ERROR;
    void countRefusal(gateway, request, undecodable ? invalidRequest([{ path: "", message: "the path is not valid" }]) : error).then(
      (refusal) => send(response, renderError(refusal, gateway, protocolOf(request.path))),
    );
  };
  app.use(onError);
  return app;
};
