import { createHash } from "node:crypto";
import { accountSuspended, DomainError, sessionCapabilities } from "@nodeloom/kernel";
import { parseIdentityChange, type IdentityChange, type Redis } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Request, Response } from "express";
import { createFreshCache } from "../cache";
import { toCallerUser, type Caller, type CallerUser } from "./caller";
import type { Services } from "../clients";
import { unauthenticated } from "../http/errors";
import { CALLER_CACHE_ENTRIES, CALLER_FRESH_MS, CALLER_STALE_MS } from "../http/limits";
import type { SessionUser, Sessions } from "./session";

const ADMIN = "admin";
const MAX_KEY_CHARS = 256;

export interface Authentication {
  /**
   * Who sends a request: the owner of its x-api-key (which wins) or, on routes of OpenAI's API and of MCP, of its Bearer token, else the user
   * of its session cookie.
   * @returns undefined when it carries neither.
   * @throws UNAUTHENTICATED, LEGACY_KEY_RETIRED, API_KEY_ACCESS_DENIED, ACCOUNT_SUSPENDED, CROSS_ORIGIN_DENIED
   */
  authenticate(request: Request, response: Response, route?: { openAi?: boolean; mcp?: boolean }): Promise<Caller | undefined>;
}

export interface AuthenticationOptions {
  identity: Services["identity"];
  sessions: Sessions;
}

const keyCaller = ({ key, user, effectiveCapabilities }: identity.AuthenticateKeyResponse): Caller => {
  if (!key || !user) throw unauthenticated();
  const { webhook } = key;
  return {
    user: toCallerUser(user),
    isAdmin: user.role === ADMIN,
    capabilities: effectiveCapabilities,
    key: {
      id: key.id,
      webhook: webhook && !webhook.disabledAt && webhook.url !== "" ? { url: webhook.url, events: webhook.events } : null,
      metadata: key.metadata,
    },
  };
};

const sessionCaller = (user: CallerUser): Caller => {
  const isAdmin = user.role === ADMIN;
  return { user, isAdmin, capabilities: sessionCapabilities(user.plan.base, isAdmin), key: null };
};

/** Gives unknown, revoked and expired keys one answer, so that it hints at none of these. */
const alike = (error: unknown): never => {
  throw error instanceof DomainError && error.reason === "UNAUTHENTICATED" ? unauthenticated() : error;
};

const BEARER = /^Bearer +(\S+)$/i;
const bearerOf = ({ headers }: Request): string | undefined => BEARER.exec(headers.authorization ?? "")?.[1];

const concerns =
  ({ type, id }: IdentityChange) =>
  (caller: Caller): boolean =>
    (type === "key" && caller.key?.id === id) || (type === "user" && caller.user.id === id) || (type === "tier" && caller.user.tier === id);

export interface ChangeChannel {
  /** In subscriber mode, which takes no other commands. */
  subscriber: Redis;
  channel: string;
}

/** Resolves callers, and forgets them as soon as identity says that something about them has changed. */
export const createAuthentication = (
  { identity, sessions }: AuthenticationOptions,
  { subscriber, channel }: ChangeChannel,
): Authentication => {
  const bounds = { maxEntries: CALLER_CACHE_ENTRIES, freshMs: CALLER_FRESH_MS, staleMs: CALLER_STALE_MS };
  const byKey = createFreshCache<Caller>({ ...bounds, load: async (value) => keyCaller(await identity.authenticateKey({ value })) });
  const byUser = createFreshCache<Caller>({
    ...bounds,
    load: async (userId) => {
      const { user } = await identity.getUser({ userId });
      if (!user) throw unauthenticated();
      return sessionCaller(toCallerUser(user));
    },
  });

  subscriber.on("message", (_channel: string, message: string) => {
    const change = parseIdentityChange(message);
    if (!change) return;
    byKey.invalidate(concerns(change));
    byUser.invalidate(concerns(change));
  });
  subscriber.subscribe(channel).catch(() => undefined);

  const userOf = (userId: string): Promise<Caller | undefined> =>
    byUser.get(userId, userId).catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === "not_found") return undefined;
      throw error;
    });

  /** Reads the user again where the cached one is of an older epoch than the session, which another gateway began. */
  const callerOf = async ({ userId, epoch }: SessionUser): Promise<Caller | undefined> => {
    const known = await userOf(userId);
    if (!known || known.user.sessionEpoch >= epoch) return known;
    byUser.invalidate(({ user }) => user.id === userId);
    return userOf(userId);
  };

  const bySession = async (request: Request, response: Response): Promise<Caller | undefined> => {
    const session = await sessions.user(request, response);
    if (!session) return undefined;
    sessions.checkOrigin(request, true);
    const caller = await callerOf(session);
    // A suspended user's session has ended; the suspension is the more useful answer.
    if (caller?.user.suspended) throw accountSuspended();
    return caller?.user.sessionEpoch === session.epoch ? caller : undefined;
  };

  return {
    authenticate: async (request, response, { openAi = false, mcp = false } = {}) => {
      const value = request.headers["x-api-key"] ?? (openAi || mcp ? bearerOf(request) : undefined);
      if (value === undefined) return bySession(request, response);
      if (typeof value !== "string" || value === "" || value.length > MAX_KEY_CHARS) throw unauthenticated();
      return byKey.get(createHash("sha256").update(value).digest("base64"), value).catch(alike);
    },
  };
};
