import { APP_METADATA, covers, DomainError, isNotFound } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import type { Request } from "express";
import { bearerOf } from "../auth/authenticate";
import { runCapability, toCallerUser, type Caller, type CallerKey } from "../auth/caller";
import { createFreshCache } from "../clients/cache";
import type { Services } from "../clients/services";
import { notFound, unauthenticated } from "../http/errors";
import { APP_CACHE_ENTRIES, APP_FRESH_MS, APP_STALE_MS } from "./limits";
import { TOKEN_PREFIX, type AppTokens, type TokenClaims } from "./tokens";

export interface App {
  slug: string;
  ownerId: string;
  settings: workflows.App;
  schema: workflows.Schema;
}

export interface Apps {
  tokens: AppTokens;
  /** @throws NOT_FOUND if the app isn't published, its publisher has lost access, or its owner is unapproved or suspended */
  find(slug: string): Promise<App>;
  /** Published apps of an account, newest first. */
  list(ownerId: string): Promise<workflows.AppCard[]>;
  /**
   * The visitor who sends a request; undefined without an app token.
   * @throws UNAUTHENTICATED (forged, expired, or its key was revoked), NOT_FOUND (the app is no longer published), CROSS_ORIGIN_DENIED (from a page whose origin the app doesn't list)
   */
  visitor(request: Pick<Request, "headers">): Promise<Caller | undefined>;
  /** @throws NOT_FOUND in the same cases as `find` */
  originsOf(slug: string): Promise<readonly string[]>;
  /** True if a published app lists the origin. */
  hasOrigin(origin: string): Promise<boolean>;
}

export interface AppsOptions {
  services: Pick<Services, "identity" | "workflows">;
  tokens: AppTokens;
  /** Origin of the gateway's own pages, which show apps. */
  publicOrigin: string;
}

/** The app needs no account from its visitors. */
export const OWNER_PAYS = "owner";
const READ = "execution:read";

type Publication = Pick<workflows.App, "publishedBy" | "publishedAt">;

const isEnded = (error: unknown): boolean => error instanceof DomainError && error.kind === "unauthenticated";

/** The token of a visitor's request. A key outranks a token if a request has both. */
export const tokenOf = (request: Pick<Request, "headers">): string | undefined => {
  const token = request.headers["x-api-key"] === undefined ? bearerOf(request) : undefined;
  return token?.startsWith(TOKEN_PREFIX) ? token : undefined;
};

const originDenied = (): DomainError =>
  new DomainError("forbidden", "CROSS_ORIGIN_DENIED", "pages of this origin can't use the app: its owner can allow the origin");

export const createApps = ({ services, tokens, publicOrigin }: AppsOptions): Apps => {
  const { identity, workflows: stored } = services;
  const bounds = { maxEntries: APP_CACHE_ENTRIES, freshMs: APP_FRESH_MS, staleMs: APP_STALE_MS };
  const bySlug = createFreshCache<App>({
    ...bounds,
    load: async (slug) => {
      const { app } = await stored.getApp({ slug });
      if (!app?.settings || !app.schema) throw notFound("app");
      return { slug, ownerId: app.ownerId, settings: app.settings, schema: app.schema };
    },
  });
  const byPublisher = createFreshCache<Caller["user"]>({
    ...bounds,
    load: async (names) => {
      const [userId = "", personId = "", at = ""] = names.split(" ");
      const { user } = await identity.getUser({ userId, grant: { personId, at: new Date(Number(at)) } });
      if (!user) throw notFound("app");
      return toCallerUser(user);
    },
  });
  const byKey = createFreshCache<{ key: CallerKey; capabilities: string[] }>({
    ...bounds,
    load: async (names) => {
      const [userId = "", keyId = ""] = names.split(" ");
      const { key, effectiveCapabilities } = await identity.resolveKey({ userId, keyId });
      if (!key) throw unauthenticated();
      return { key: { id: key.id, webhook: null, metadata: key.metadata, alias: key.alias }, capabilities: effectiveCapabilities };
    },
  });
  const byOrigin = createFreshCache<workflows.FindAppOriginResponse>({ ...bounds, load: (origin) => stored.findAppOrigin({ origin }) });

  /** @throws NOT_FOUND if the owner can't run the app, or its publisher has lost access */
  const ownerOf = async (ownerId: string, { publishedBy, publishedAt }: Publication): Promise<Caller["user"]> => {
    const names = `${ownerId} ${publishedBy} ${publishedAt?.getTime() ?? 0}`;
    const user = await byPublisher.get(names, names).catch((error: unknown) => {
      throw isNotFound(error) || isEnded(error) ? notFound("app") : error;
    });
    if (user.suspended || !user.approved) throw notFound("app");
    return user;
  };

  const canAnswer = (ownerId: string, publication: Publication): Promise<boolean> =>
    ownerOf(ownerId, publication).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );

  const find = async (slug: string): Promise<App> => {
    const app = await bySlug.get(slug, slug);
    await ownerOf(app.ownerId, app.settings);
    return app;
  };

  /** The key that issued a token; null without one. @throws UNAUTHENTICATED if the key can no longer run the app */
  const keyOf = async ({ ownerId, keyId, slug }: TokenClaims): Promise<CallerKey | null> => {
    if (keyId === "") return null;
    const names = `${ownerId} ${keyId}`;
    const { key, capabilities } = await byKey.get(names, names);
    if (!covers(capabilities, runCapability("workflow", slug))) throw unauthenticated();
    return key;
  };

  return {
    tokens,
    find,
    list: async (ownerId) => {
      const { apps } = await stored.listApps({ ownerId });
      const answerable = apps.map(async (card) => ((await canAnswer(ownerId, card)) ? [card] : []));
      return (await Promise.all(answerable)).flat();
    },
    originsOf: async (slug) => (await find(slug)).settings.origins,
    hasOrigin: async (origin) => {
      for (const { ownerId, ...publication } of (await byOrigin.get(origin, origin)).publications)
        if (await canAnswer(ownerId, publication)) return true;
      return false;
    },
    visitor: async (request) => {
      const token = tokenOf(request);
      if (token === undefined) return undefined;
      const claims = tokens.read(token);
      if (!claims) throw unauthenticated();
      const { slug, ownerId, visitor } = claims;
      const app = await find(slug);
      if (app.ownerId !== ownerId || app.settings.payer !== OWNER_PAYS) throw notFound("app");
      const { origin } = request.headers;
      if (origin !== undefined && origin !== publicOrigin && !app.settings.origins.includes(origin)) throw originDenied();
      const [user, key] = await Promise.all([ownerOf(ownerId, app.settings), keyOf(claims)]);
      return {
        user,
        person: user,
        isAdmin: false,
        capabilities: [runCapability("workflow", slug), READ],
        key,
        visitor: { slug, id: visitor, metadata: { [APP_METADATA.app]: slug, [APP_METADATA.visitor]: visitor } },
      };
    },
  };
};
