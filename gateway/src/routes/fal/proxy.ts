import { invalidRequest } from "@nodeloom/kernel";
import type { RequestHandler } from "express";
import { FAL_PATH } from "../../http/fal-errors";
import { FAL_REST_PATH } from "./uploads";

/**
 * fal's proxy protocol: a library sends all requests to one address, and names the intended address at fal in a header. The gateway never
 * calls that address, but serves its path.
 */

export const FAL_PROXY_PATH = `${FAL_PATH}proxy`;
const TARGET = "x-fal-target-url";
/** Hosts that requests can name, with the path prefix that serves each. */
const HOSTS: ReadonlyMap<string, string> = new Map([
  ["queue.fal.run", FAL_PATH],
  ["fal.run", `${FAL_PATH}run/`],
  ["rest.fal.ai", FAL_REST_PATH],
]);

/** Serves the path that a proxied request names. @throws INVALID_REQUEST for another host than fal's */
export const falProxy: RequestHandler = (request, _response, next) => {
  if (request.path !== FAL_PROXY_PATH) return next();
  const target = request.headers[TARGET];
  const url = typeof target === "string" && URL.canParse(target) ? new URL(target) : undefined;
  const place = url?.protocol === "https:" ? HOSTS.get(url.host) : undefined;
  if (!url || place === undefined)
    throw invalidRequest([{ path: TARGET, message: `must be an address at ${[...HOSTS.keys()].join(" or ")}` }]);
  request.url = `${place}${url.pathname.slice(1)}${url.search}`;
  next();
};
