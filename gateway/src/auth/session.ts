import { unavailable } from "@nodeloom/kernel";
import type { Redis } from "@nodeloom/platform";
import { RedisStore } from "connect-redis";
import type { Request, Response } from "express";
import session from "express-session";
import { crossOriginDenied } from "../http/errors";
import { SESSION_SECONDS } from "../http/limits";

export const SESSION_COOKIE = "nodeloom_session";

declare module "express-session" {
  interface SessionData {
    userId: string;
  }
}

export interface SessionsOptions {
  redis: Redis;
  keyPrefix: string;
  secret: string;
  /** Send the cookie over TLS only. */
  secure: boolean;
  /** The gateway's own origin as clients see it. */
  publicOrigin: string;
}

export interface Sessions {
  /** The signed-in user of a request that carries a session cookie; undefined when there is none. */
  userId(request: Request, response: Response): Promise<string | undefined>;
  /** Starts a session under a new id. */
  signIn(request: Request, response: Response, userId: string): Promise<void>;
  /** Ends the request's session. */
  signOut(request: Request, response: Response): Promise<void>;
  /**
   * Refuses a request that another site made a browser send.
   * @param strict also refuse when the request does not say where it comes from
   */
  checkOrigin(request: Request, strict: boolean): void;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export const hasSessionCookie = (request: Request): boolean => request.headers.cookie?.includes(`${SESSION_COOKIE}=`) ?? false;

export const createSessions = ({ redis, keyPrefix, secret, secure, publicOrigin }: SessionsOptions): Sessions => {
  const middleware = session({
    name: SESSION_COOKIE,
    secret,
    // Sessions live for a fixed time: no write per request.
    store: new RedisStore({ client: redis, prefix: `${keyPrefix}session:`, ttl: SESSION_SECONDS, disableTouch: true }),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: "lax", secure, path: "/", maxAge: SESSION_SECONDS * 1_000 },
  });

  const load = (request: Request, response: Response): Promise<void> =>
    new Promise((resolve, reject) => {
      if (request.session) return resolve();
      middleware(request, response, (error?: unknown) => (error ? reject(unavailable("sessions are not available")) : resolve()));
    });

  const step = (act: (done: (error?: unknown) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      act((error) => (error ? reject(unavailable("sessions are not available")) : resolve()));
    });

  return {
    userId: async (request, response) => {
      if (!hasSessionCookie(request)) return undefined;
      await load(request, response);
      return request.session.userId;
    },
    signIn: async (request, response, userId) => {
      await load(request, response);
      await step((done) => request.session.regenerate(done));
      request.session.userId = userId;
      await step((done) => request.session.save(done));
    },
    signOut: async (request, response) => {
      await load(request, response);
      await step((done) => request.session.destroy(done));
      response.clearCookie(SESSION_COOKIE, { httpOnly: true, sameSite: "lax", secure, path: "/" });
    },
    checkOrigin: (request, strict) => {
      if (SAFE_METHODS.has(request.method)) return;
      const { origin } = request.headers;
      if (origin !== undefined) {
        if (origin !== publicOrigin && origin !== `${request.protocol}://${request.headers.host}`) throw crossOriginDenied();
        return;
      }
      const site = request.headers["sec-fetch-site"];
      if (site === "same-origin" || (site === undefined && !strict)) return;
      throw crossOriginDenied();
    },
  };
};
