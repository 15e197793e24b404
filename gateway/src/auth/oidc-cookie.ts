import { parse } from "cookie";
import type { Request, Response } from "express";
import { HOST_PREFIX } from "./session";

const NAME = "nodeloom_oidc";
/** Identity stores a pending sign-in for the same time. */
const MAX_AGE_MS = 10 * 60 * 1_000;

/** Binds a sign-in at a provider to the browser that started it. */
export interface OidcCookie {
  set(response: Response, value: string): void;
  /** Reads and clears the value; empty if the browser has none. */
  take(request: Request, response: Response): string;
}

/** @param secure send it over TLS only, under a name that browsers protect */
export const createOidcCookie = (secure: boolean): OidcCookie => {
  const name = secure ? HOST_PREFIX + NAME : NAME;
  // Lax, so that the browser sends it when the provider redirects back.
  const attributes = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const;
  return {
    set: (response, value) => void response.cookie(name, value, { ...attributes, maxAge: MAX_AGE_MS }),
    take: (request, response) => {
      response.clearCookie(name, attributes);
      return parse(request.headers.cookie ?? "")[name] ?? "";
    },
  };
};
