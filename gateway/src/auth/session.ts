import { unavailable } from "@nodeloom/kernel";
import { sessionPrefix, type Redis } from "@nodeloom/platform";
import { RedisStore } from "connect-redis";
import type { Request, Response } from "express";
import session from "express-session";
import { crossOriginDenied } from "../http/errors";
import { SESSION_IDLE_SECONDS } from "../http/limits";

export const SESSION_COOKIE = "nodeloom_session";
/** Browsers accept a cookie with this prefix over TLS only, for this host and every path. */
export const HOST_PREFIX = "__Host-";
const MS = 1_000;

/** The signed-in user with their session epoch: the session is over once the user's epoch is higher. */
export interface SessionUser {
  userId: string;
  epoch: number;
}

declare module "express-session" {
  interface SessionData {
    userId: string;
    epoch: number;
    /** Start in milliseconds since the epoch; absent on old sessions. */
    at?: number;
  }
}

export interface SessionsOptions {
  redis: Redis;
  keyPrefix: string;
  secret: string;
  /** Send the cookie over TLS only, under a prefix that browsers protect. */
  secure: boolean;
  /** Public origin of the gateway: only pages from there can write with a session. */
  publicOrigin: string;
}

export interface Sessions {
  /** User of the request's session cookie; undefined without a session. Restarts the session's idle time. */
  user(request: Request, response: Response): Promise<SessionUser | undefined>;
  /** Starts a session under a new id. */
  signIn(request: Request, response: Response, user: SessionUser): Promise<void>;
  /** True if the session of a request with a known user started within this time. */
  isRecent(request: Request, withinMs: number): boolean;
  signOut(request: Request, response: Response): Promise<void>;
  /** Rejects requests that another site made a browser send. @param strict also reject requests without an origin */
  checkOrigin(request: Request, strict: boolean): void;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Hosts under which a local platform can be opened. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** An origin with its aliases on the local machine. */
const originsOf = (publicOrigin: string): ReadonlySet<string> => {
  const { hostname } = new URL(publicOrigin);
  if (!LOOPBACK.includes(hostname)) return new Set([publicOrigin]);
  return new Set(LOOPBACK.map((name) => publicOrigin.replace(hostname, name)));
};

export const createSessions = ({ redis, keyPrefix, secret, secure, publicOrigin }: SessionsOptions): Sessions => {
  const name = secure ? HOST_PREFIX + SESSION_COOKIE : SESSION_COOKIE;
  const attributes = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const;
  const middleware = session({
    name,
    secret,
    // Renewing is an EXPIRE: it can't restore a session that another request is ending.
    store: new RedisStore({ client: redis, prefix: sessionPrefix(keyPrefix), ttl: SESSION_IDLE_SECONDS }),
    resave: false,
    rolling: true,
    saveUninitialized: false,
    cookie: { ...attributes, maxAge: SESSION_IDLE_SECONDS * MS },
  });

  const origins = originsOf(publicOrigin);

  const load = (request: Request, response: Response): Promise<void> =>
    new Promise((resolve, reject) => {
      if (request.session) return resolve();
      middleware(request, response, (error?: unknown) => (error ? reject(unavailable("sessions are not available")) : resolve()));
    });

  const step = (act: (callback: (error?: unknown) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      act((error) => (error ? reject(unavailable("sessions are not available")) : resolve()));
    });

  return {
    user: async (request, response) => {
      if (!request.headers.cookie?.includes(`${name}=`)) return undefined;
      await load(request, response);
      const { userId, epoch } = request.session;
      return userId === undefined || epoch === undefined ? undefined : { userId, epoch };
    },
    signIn: async (request, response, { userId, epoch }) => {
      await load(request, response);
      await step((callback) => request.session.regenerate(callback));
      request.session.userId = userId;
      request.session.epoch = epoch;
      request.session.at = Date.now();
      await step((callback) => request.session.save(callback));
    },
    isRecent: (request, withinMs) => Date.now() - (request.session?.at ?? 0) < withinMs,
    signOut: async (request, response) => {
      await load(request, response);
      await step((callback) => request.session.destroy(callback));
      response.clearCookie(name, attributes);
    },
    checkOrigin: (request, strict) => {
      if (SAFE_METHODS.has(request.method)) return;
      const { origin } = request.headers;
      if (origin !== undefined) {
        if (!origins.has(origin)) throw crossOriginDenied(publicOrigin);
        return;
      }
      const site = request.headers["sec-fetch-site"];
      if (site === "same-origin" || (site === undefined && !strict)) return;
      throw crossOriginDenied(publicOrigin);
    },
  };
};
