import type { Request, RequestHandler, Response } from "express";
import type { Gateway } from "./gateway";
import { methodNotAllowed } from "../http/errors";
import { countByAddress } from "./rate/counting";
import { renderError, send } from "./reply";
import type { Route } from "./route";
import { tokenOf } from "../apps/apps";
import { PREFLIGHT_SECONDS } from "../apps/limits";

/**
 * Cross-origin requests: from origins that an app lists, with a visitor's token, on routes that accept one. Cookies are never accepted in
 * them, so responses never allow credentials.
 */

const NO_CONTENT = 204;
const ALLOWED_HEADERS = ["authorization", "content-type", "idempotency-key", "last-event-id", "prefer", "if-none-match"];
const EXPOSED_HEADERS = [
  ...["X-Request-Id", "X-Execution-Id", "Retry-After", "ETag", "Idempotency-Replayed", "Preference-Applied"],
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
];

const allow = (response: Response, origin: string): void => void response.setHeader("Access-Control-Allow-Origin", origin);

/** App of a request: from its token, or from the path on routes open to visitors. */
const slugOf = ({ apps }: Gateway, { app }: Route, request: Request): string | undefined => {
  if (app === "open") return request.headers["x-api-key"] === undefined ? String(request.params.slug) : undefined;
  const token = tokenOf(request);
  return token === undefined ? undefined : apps.tokens.readEnded(token)?.slug;
};

const isFromApp = (apps: Gateway["apps"], slug: string, origin: string): Promise<boolean> =>
  apps.originsOf(slug).then(
    (origins) => origins.includes(origin),
    // An unknown app has no origins; the request itself reports the error.
    () => false,
  );

/** Lets pages of an app's origins read a route's responses, including errors. */
export const allowOrigin =
  (gateway: Gateway, route: Route): RequestHandler =>
  (request, response, next) => {
    const { origin } = request.headers;
    if (!route.app || origin === undefined) return next();
    response.vary("Origin");
    const slug = slugOf(gateway, route, request);
    if (slug === undefined) return next();
    void isFromApp(gateway.apps, slug, origin).then((isAllowed) => {
      if (isAllowed) {
        allow(response, origin);
        response.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS.join(", "));
      }
      next();
    });
  };

const headersAsked = (request: Request): string[] =>
  String(request.headers["access-control-request-headers"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");

const mayAsk = async ({ apps }: Gateway, { params }: Request, origin: string): Promise<boolean> =>
  typeof params.slug === "string" ? isFromApp(apps, params.slug, origin) : apps.hasOrigin(origin);

/**
 * Answers preflight requests: allows visitors' methods and headers from the origins of the app in the path, or of any app if the path names
 * none. Other requests get the response without CORS headers.
 * @param routes routes of the path
 */
export const preflight = (gateway: Gateway, routes: readonly Route[], allowed: readonly string[]): RequestHandler => {
  const methods = routes.filter(({ app }) => app).map(({ method }) => method as string);
  const answer = async (request: Request, response: Response): Promise<void> => {
    const { origin, "access-control-request-method": method = "" } = request.headers;
    const isOurs = methods.includes(String(method)) && headersAsked(request).every((name) => ALLOWED_HEADERS.includes(name));
    if (origin === undefined || !isOurs) throw methodNotAllowed(allowed);
    await countByAddress(gateway, request, "preflight");
    if (!(await mayAsk(gateway, request, origin))) throw methodNotAllowed(allowed);
    allow(response, origin);
    response.setHeader("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
    response.setHeader("Access-Control-Allow-Methods", methods.join(", "));
    response.setHeader("Access-Control-Allow-Headers", ALLOWED_HEADERS.join(", "));
    response.setHeader("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
    send(response, { status: NO_CONTENT, headers: {}, text: "" });
  };
  return (request, response) => {
    answer(request, response).catch((error: unknown) => send(response, renderError(error, gateway)));
  };
};
