import { createProxyMiddleware } from "http-proxy-middleware";
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { unavailable } from "@nodeloom/kernel";
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from "express";
import helmet from "helmet";
import { authorize } from "../auth/caller";
import type { Authentication } from "../auth/authenticate";
import type { Gateway } from "../edge/gateway";
import { crossOriginDenied, methodNotAllowed, routeNotFound } from "../http/errors";
import { countRefusal } from "../edge/rate/counting";
import { renderError, send } from "../edge/reply";
import { TEMPORAL_UI_PATH } from "../http/temporal-ui-path";

/**
 * Serves Temporal's UI to administrators on a separate origin: the UI has no accounts, and its scripts must not reach the console's origin.
 * Every request needs the session of an administrator who signed in on the console. Browsers send its cookie here too, because the host is
 * the same.
 */
const PROXY_TIMEOUT_MS = 60_000;
const SEE_OTHER = 303;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/** Queries a workflow's state: a read sent as POST. */
const QUERY = /^\/temporal\/api\/v1\/namespaces\/[^/]+\/workflows\/[^/]+\/(?:runs\/[^/]+\/)?query\/[^/]+$/;
/** The UI's CSRF cookie. No other cookie passes in either direction. */
const UI_COOKIE = /^_csrf=/;
/** Headers that aren't forwarded: credentials, upgrades, and claims about the client's address. */
const WITHHELD = ["x-api-key", "authorization", "upgrade", "forwarded", "x-forwarded-host", "x-forwarded-for", "x-forwarded-proto"];

export interface AdminAppOptions {
  gateway: Gateway;
  /** Resolves sessions, and rejects writes from origins other than this listener's. */
  authentication: Authentication;
  /** Public origin of this listener. */
  origin: string;
  /** Address of the UI, including its path. */
  temporalUiUrl: string;
  /** Express's trust proxy setting, as on the console's listener. */
  trustProxy: number | string[];
  /** Allows terminating, signalling and resetting workflows. */
  writes: boolean;
}

/** Rejects other host names, against DNS rebinding. */
const onlyHost =
  (origin: string): RequestHandler =>
  (request, _response, next) => {
    if (request.headers.host !== new URL(origin).host) throw crossOriginDenied(origin);
    next();
  };

const readsOnly: RequestHandler = (request, _response, next) => {
  if (!READS.has(request.method) && !(request.method === "POST" && QUERY.test(request.path))) throw methodNotAllowed([...READS]);
  next();
};

/** Admits administrators by session only; others are redirected to the console. */
const onlyAdmins =
  ({ authentication, gateway }: Pick<AdminAppOptions, "authentication" | "gateway">): RequestHandler =>
  async (request, response, next) => {
    delete request.headers["x-api-key"];
    const caller = await authentication.authenticate(request, response);
    const isPage = READS.has(request.method) && request.headers.accept?.includes("text/html") === true;
    if (!caller && isPage) return response.redirect(SEE_OTHER, gateway.publicBaseUrl);
    authorize(caller, "admin", undefined);
    next();
  };

const ownCookies = (header: string | undefined): string =>
  (header ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => UI_COOKIE.test(cookie))
    .join("; ");

const proxy = ({ temporalUiUrl, gateway }: Pick<AdminAppOptions, "temporalUiUrl" | "gateway">): RequestHandler =>
  createProxyMiddleware<Request>({
    target: temporalUiUrl,
    changeOrigin: true,
    proxyTimeout: PROXY_TIMEOUT_MS,
    on: {
      proxyReq: (outgoing, request) => {
        for (const name of WITHHELD) outgoing.removeHeader(name);
        const cookies = ownCookies(request.headers.cookie);
        if (cookies === "") outgoing.removeHeader("cookie");
        else outgoing.setHeader("cookie", cookies);
        // Sends the UI its own origin: it rejects writes from other origins.
        if (request.headers.origin !== undefined) outgoing.setHeader("origin", new URL(temporalUiUrl).origin);
      },
      proxyRes: (incoming) => {
        incoming.headers["set-cookie"] = incoming.headers["set-cookie"]?.filter((cookie) => UI_COOKIE.test(cookie));
        if (incoming.headers["set-cookie"]?.length === 0) delete incoming.headers["set-cookie"];
        delete incoming.headers["access-control-allow-origin"];
        delete incoming.headers["access-control-allow-credentials"];
      },
      error: (_error, _request, response) => {
        if (response instanceof ServerResponse)
          send(response as never, renderError(unavailable("Temporal's UI is not available"), gateway));
      },
    },
  });

/** Adds to the UI's own policy: no framing, no referrer. */
const secure = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { "default-src": helmet.contentSecurityPolicy.dangerouslyDisableDefaultSrc, "frame-ancestors": ["'none'"] },
  },
  crossOriginEmbedderPolicy: false,
});

export const createAdminApp = (options: AdminAppOptions): Express => {
  const { gateway, origin, writes, trustProxy } = options;
  const app = express();
  app.disable("x-powered-by").disable("etag");
  app.set("trust proxy", trustProxy);
  app.get("/readyz", (_request, response) => void response.json({ status: "ready" }));
  app.use(secure, onlyHost(origin), onlyAdmins(options));
  if (!writes) app.use(readsOnly);
  app.get("/", (_request, response) => response.redirect(SEE_OTHER, TEMPORAL_UI_PATH));
  app.use(TEMPORAL_UI_PATH, proxy(options));
  app.use(() => {
    throw routeNotFound();
  });
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    void countRefusal(gateway, request, error).then((refusal) => send(response, renderError(refusal, gateway)));
  };
  app.use(onError);
  return app;
};

/** Closes upgrade requests: the UI uses no websockets. */
export const refuseUpgrade = (_request: IncomingMessage, socket: Duplex): void => {
  socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
};
