import { createHash } from "node:crypto";
import { accountSuspended, unlessNotFound, UUID } from "@nodeloom/kernel";
import { parseIdentityChange, type IdentityChange, type Redis } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Request, Response } from "express";
import { createFreshCache } from "../clients/cache";
import { ADMIN, memberCaller, personCaller, toCallerUser, toOrganizationAccount, type Caller, type OrganizationAccount } from "./caller";
import type { Services } from "../clients/services";
import { notFound, unauthenticated } from "../http/errors";
import { CALLER_CACHE_ENTRIES, CALLER_FRESH_MS, CALLER_STALE_MS } from "../http/limits";
import type { SessionUser, Sessions } from "./session";

/** Selects the organization that a request is for. */
const ORGANIZATION = "x-organization";
const MAX_KEY_CHARS = 256;
const AUTHORIZATION = /^([A-Za-z]+) +(\S+)$/;
const BEARER = ["Bearer"] as const;

/** Credential in `Authorization` under one of the given schemes. */
const credentialOf = ({ headers }: Pick<Request, "headers">, schemes: readonly string[]): string | undefined => {
  const [, scheme = "", value] = AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  return schemes.some((each) => each.toLowerCase() === scheme.toLowerCase()) ? value : undefined;
};

export const bearerOf = (request: Pick<Request, "headers">): string | undefined => credentialOf(request, BEARER);

export interface Authentication {
  /**
   * Authenticates a request by its x-api-key (which wins), by a key in `Authorization` with a scheme that the route accepts, or by its
   * session cookie, for the organization in X-Organization. A key belongs to one organization and is rejected for another.
   * @param route `ofPerson`: the route concerns the person, and X-Organization is ignored
   * @returns undefined without credentials.
   * @throws UNAUTHENTICATED, LEGACY_KEY_RETIRED, API_KEY_ACCESS_DENIED, ACCOUNT_SUSPENDED, CROSS_ORIGIN_DENIED, NOT_FOUND (not a member)
   */
  authenticate(
    request: Request,
    response: Response,
    route?: { keySchemes?: readonly string[]; ofPerson?: boolean },
  ): Promise<Caller | undefined>;
}

export interface AuthenticationOptions {
  identity: Services["identity"];
  organizations: Services["organizations"];
  sessions: Sessions;
}

const ownersOf = ({ user, person, role }: identity.AuthenticateKeyResponse): Pick<Caller, "user" | "person" | "organization"> => {
  if (!user) throw unauthenticated();
  const maker = toCallerUser(person ?? user);
  if (!user.organization) return { user: maker.service ? toCallerUser(user) : maker, person: maker };
  const { user: account, organization } = memberCaller(maker, toOrganizationAccount(user, role));
  return { user: account, person: maker, ...(organization ? { organization } : {}) };
};

const keyCaller = (answer: identity.AuthenticateKeyResponse): Caller => {
  const { key, user, effectiveCapabilities } = answer;
  if (!key || !user) throw unauthenticated();
  const { webhook } = key;
  return {
    ...ownersOf(answer),
    isAdmin: user.role === ADMIN,
    capabilities: effectiveCapabilities,
    key: {
      id: key.id,
      webhook: webhook && !webhook.disabledAt && webhook.url !== "" ? { url: webhook.url, events: webhook.events } : null,
      metadata: key.metadata,
      alias: key.alias,
    },
  };
};

/** @returns undefined if the request names no organization */
const organizationOf = ({ headers }: Request): string | undefined => {
  const organizationId = headers[ORGANIZATION];
  return typeof organizationId === "string" ? organizationId.toLowerCase() : undefined;
};

const concerns =
  ({ type, id }: IdentityChange) =>
  ({ user, person, organization, key }: Pick<Caller, "user" | "organization"> & Partial<Pick<Caller, "person" | "key">>): boolean =>
    (type === "key" && key?.id === id) ||
    (type === "user" && [user.id, person?.id, organization?.tierOf].includes(id)) ||
    (type === "organization" && user.id === id) ||
    (type === "tier" && user.tier === id);

export interface ChangeChannel {
  /** Connection in subscriber mode, which accepts no other commands. */
  subscriber: Redis;
  channel: string;
}

/** Resolves callers, and drops cached ones as soon as identity announces a change. */
export const createAuthentication = (
  { identity, organizations, sessions }: AuthenticationOptions,
  { subscriber, channel }: ChangeChannel,
): Authentication => {
  const bounds = { maxEntries: CALLER_CACHE_ENTRIES, freshMs: CALLER_FRESH_MS, staleMs: CALLER_STALE_MS };
  const byKey = createFreshCache<Caller>({ ...bounds, load: async (value) => keyCaller(await identity.authenticateKey({ value })) });
  const byUser = createFreshCache<Caller>({
    ...bounds,
    load: async (userId) => {
      const { user } = await identity.getUser({ userId });
      if (!user) throw unauthenticated();
      return personCaller(toCallerUser(user));
    },
  });
  const byMember = createFreshCache<OrganizationAccount>({
    ...bounds,
    load: async (which) => {
      const [personId = "", organizationId = ""] = which.split(" ");
      const { membership } = await organizations.getMembership({ personId, organizationId });
      if (!membership?.account) throw notFound("organization");
      return toOrganizationAccount(membership.account, membership.role);
    },
  });

  subscriber.on("message", (_channel: string, message: string) => {
    const change = parseIdentityChange(message);
    if (!change) return;
    byKey.invalidate(concerns(change));
    byUser.invalidate(concerns(change));
    byMember.invalidate(concerns(change));
  });
  subscriber.subscribe(channel).catch(() => undefined);

  const userOf = (userId: string): Promise<Caller | undefined> => unlessNotFound(byUser.get(userId, userId));

  /** Reloads the user if another gateway started the session under a newer epoch than the cached one. */
  const callerOf = async ({ userId, epoch }: SessionUser): Promise<Caller | undefined> => {
    const cached = await userOf(userId);
    if (!cached || cached.user.sessionEpoch >= epoch) return cached;
    byUser.invalidate(({ user }) => user.id === userId);
    return userOf(userId);
  };

  const inOrganization = async (caller: Caller, id: string | undefined): Promise<Caller> => {
    if (id === undefined || id === caller.user.id) return caller;
    if (!UUID.test(id)) throw notFound("organization");
    const which = `${caller.person.id} ${id}`;
    const account = await byMember.get(which, which);
    if (account.user.suspended) throw accountSuspended();
    return memberCaller(caller.person, account);
  };

  const bySession = async (request: Request, response: Response, ofPerson: boolean): Promise<Caller | undefined> => {
    const session = await sessions.user(request, response);
    if (!session) return undefined;
    sessions.checkOrigin(request, true);
    const caller = await callerOf(session);
    // Suspension also ends the session, but is the more useful error.
    if (caller?.user.suspended) throw accountSuspended();
    if (caller?.user.sessionEpoch !== session.epoch) return undefined;
    return ofPerson ? caller : inOrganization(caller, organizationOf(request));
  };

  const byValue = async (value: string, request: Request, ofPerson: boolean): Promise<Caller> => {
    const caller = await byKey.get(createHash("sha256").update(value).digest("base64"), value);
    const organizationId = ofPerson ? undefined : organizationOf(request);
    if (organizationId !== undefined && organizationId !== caller.user.id) throw notFound("organization");
    return caller;
  };

  return {
    authenticate: async (request, response, { keySchemes = [], ofPerson = false } = {}) => {
      const value = request.headers["x-api-key"] ?? credentialOf(request, keySchemes);
      if (value === undefined) return bySession(request, response, ofPerson);
      if (value === "") throw unauthenticated("the API key is empty: set the variable from which your program reads it");
      if (typeof value !== "string" || value.length > MAX_KEY_CHARS) throw unauthenticated();
      return byValue(value, request, ofPerson);
    },
  };
};
