import { ServerResponse } from "node:http";
import { unavailable } from "@nodeloom/kernel";
import { Router, type Request } from "express";
import { createProxyMiddleware } from "http-proxy-middleware";
import { methodNotAllowed } from "../http/errors";
import type { Gateway } from "./gateway";
import { renderError, send } from "./reply";

const PROXY_TIMEOUT_MS = 60_000;
/** Credentials aren't forwarded to media. */
const WITHHELD = ["x-api-key", "cookie", "authorization"];

export interface MediaProxyOptions {
  mediaUrl: string;
  gateway: Gateway;
}

/** Proxies media objects, including ranges and validators. */
export const mediaProxy = ({ mediaUrl, gateway }: MediaProxyOptions): Router => {
  const router = Router();
  router.use((request, response, next) => {
    if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed(["GET", "HEAD"]);
    // Other sites show results.
    response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    // Safe: keys can't be guessed, and the response doesn't depend on the caller.
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag");
    next();
  });
  router.use(
    createProxyMiddleware<Request>({
      target: new URL("/media", mediaUrl).href,
      xfwd: true,
      proxyTimeout: PROXY_TIMEOUT_MS,
      on: {
        proxyReq: (outgoing, _request, response) => {
          for (const name of WITHHELD) outgoing.removeHeader(name);
          outgoing.setHeader("X-Request-Id", String((response as ServerResponse).getHeader("X-Request-Id")));
        },
        error: (_error, _request, response) => {
          if (response instanceof ServerResponse) send(response as never, renderError(unavailable("media is not available"), gateway));
        },
      },
    }),
  );
  return router;
};
