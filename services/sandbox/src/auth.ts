import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import { ProviderError } from "./provider-error";

const digest = (value: string): Buffer => createHash("sha256").update(value).digest();

/** Requires `Authorization: <scheme> <key>` with one of the schemes. */
export const requireKey = (key: string, schemes: readonly string[]): RequestHandler => {
  const expected = digest(key);
  const accepted = new Set(schemes.map((scheme) => scheme.toLowerCase()));
  return (request, _response, next) => {
    const [scheme = "", sentKey = ""] = (request.get("authorization") ?? "").split(" ", 2);
    if (!accepted.has(scheme.toLowerCase()) || !timingSafeEqual(digest(sentKey), expected))
      throw new ProviderError(401, "unauthorized", `send "Authorization: ${schemes[0]} <key>" with the sandbox's key`);
    next();
  };
};

/** Requires the key in a separate header. If no key is configured, every request is rejected. */
export const requireKeyHeader = (key: string | undefined, header: string): RequestHandler => {
  const expected = key === undefined ? undefined : digest(key);
  return (request, _response, next) => {
    if (expected === undefined || !timingSafeEqual(digest(request.get(header) ?? ""), expected))
      throw new ProviderError(401, "unauthorized", `send "${header}: <key>" with the sandbox's key`);
    next();
  };
};
