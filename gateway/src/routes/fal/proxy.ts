import { invalidRequest } from "@nodeloom/kernel";
import type { RequestHandler } from "express";
import { FAL_PATH } from "../../http/fal-errors";

/**
 * fal's proxy protocol: a library sends requests to one address, and names in a header the one at fal that it means. That address is never
 * asked: its path is served here.
 */

export const FAL_PROXY_PATH = `${FAL_PATH}proxy`;
const TARGET = "x-fal-target-url";
/** The hosts that requests may be for, and where their paths are here. */
const HOSTS: ReadonlyMap<string, string> = new Map([
  ["queue.fal.run", FAL_PATH],
  ["fal.run", `${FAL_PATH}run/`],
]);

/** Serves what a request to the proxy means. @throws INVALID_REQUEST for another host than fal's two */
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
