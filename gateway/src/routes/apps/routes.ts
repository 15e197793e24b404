import { randomUUID } from "node:crypto";
import { invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { notFound } from "../../http/errors";
import { addressOf } from "../../edge/rate/counting";
import { defineRoute, type Reply } from "../../edge/route";
import { identifier, workflowParams } from "../../http/schemas";
import { specific } from "../runs/schemas";
import { OWNER_PAYS, type App } from "../../apps/apps";
import { todayOf } from "../../apps/budget";
import { TOKENS_PER_MINUTE } from "../../apps/limits";
import { appCard, appParams, appView, openTokenBody, toAppView, toCard, toToday, tokenBody, tokenResult } from "./schemas";
import type { TokenClaims } from "../../apps/tokens";
import { jsonBody } from "../../http/body/kinds";

/** An app that is open without an account. @throws NOT_FOUND */
const findOpen = async ({ apps }: Gateway, slug: string): Promise<App> => {
  const app = await apps.find(slug);
  if (app.settings.payer !== OWNER_PAYS) throw notFound("app");
  return app;
};

/** Claims of an earlier token. @throws INVALID_REQUEST if it belongs to another app */
const earlierClaims = ({ apps }: Gateway, { slug, ownerId }: App, token: string): TokenClaims => {
  const claims = apps.tokens.readEnded(token);
  if (claims?.slug === slug && claims.ownerId === ownerId) return claims;
  throw invalidRequest([{ path: "token", message: "isn't a token of this app, or has expired for too long: leave it out" }]);
};

const tokenReply = async ({ apps, visits, services }: Gateway, app: App, claims: TokenClaims): Promise<Reply> => {
  const [today, runsLeft] = await Promise.all([todayOf(services.billing, app), visits.remaining(app, claims.visitor)]);
  const { token, expiresAt } = apps.tokens.issue(claims);
  return {
    status: 200,
    body: { token, expiresAt: expiresAt.toISOString(), visitor: claims.visitor, today: toToday(today, runsLeft) },
  };
};

const open = { tag: "Apps", auth: "none", role: "self", limit: "ip" } as const;

export const appRoutes = [
  defineRoute({
    ...open,
    method: "GET",
    path: "/api/apps",
    operationId: "getAppGallery",
    summary: "Read the published apps of an account, newest first",
    query: z.strictObject({ owner: identifier.meta({ description: "The account's id" }) }),
    responses: { 200: z.array(appCard) },
    handler: async ({ gateway, query }) => ({ status: 200, body: (await gateway.apps.list(query.owner)).map(toCard) }),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/api/apps/:slug",
    operationId: "getApp",
    summary: "Get a published app: its form and its payer",
    app: "open",
    params: appParams,
    responses: { 200: appView },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, params }) => ({ status: 200, body: toAppView(await gateway.apps.find(params.slug)) }),
  }),
  defineRoute({
    ...open,
    method: "POST",
    path: "/api/apps/:slug/token",
    operationId: "createVisitorToken",
    summary: "Get a token for a visitor of an app whose owner pays",
    description:
      "For the app's own page and pages of its origins. A token lasts ten minutes. It can only run the app (`POST /api/workflows/{slug}/run`) and read the visitor's own executions. An address can be at most a hundred new visitors per day.",
    app: "open",
    limit: { ip: TOKENS_PER_MINUTE },
    params: appParams,
    body: jsonBody(openTokenBody),
    responses: { 200: tokenResult },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, params, body, request }) => {
      const app = await findOpen(gateway, params.slug);
      if (body?.token !== undefined) return tokenReply(gateway, app, earlierClaims(gateway, app, body.token));
      await gateway.visits.countNew(app, addressOf(request));
      return tokenReply(gateway, app, { slug: app.slug, ownerId: app.ownerId, keyId: "", visitor: randomUUID() });
    },
  }),
  defineRoute({
    tag: "Apps",
    method: "POST",
    path: "/api/workflows/:slug/app-token",
    operationId: "createAppToken",
    summary: "Get a token for a visitor of your own app",
    description:
      "For a server that gives tokens to its visitors' browsers. A token lasts ten minutes. It can only run the app and read the visitor's own executions. Its runs count on the key that requested it, and it ends with that key. Don't let visitors choose their `visitor` name: they could read each other's executions.",
    auth: "any",
    role: "runner",
    capability: specific("workflow", "slug"),
    limit: "user",
    approval: true,
    params: workflowParams,
    body: jsonBody(tokenBody),
    responses: { 200: tokenResult },
    errors: ["NOT_FOUND"],
    example: { visitor: "customer-17" },
    handler: async ({ gateway, caller, params, body }) => {
      const app = await findOpen(gateway, params.slug);
      const ownerId = caller.user.id;
      if (app.ownerId !== ownerId) throw notFound("app");
      const knownVisitor = body?.token === undefined ? undefined : earlierClaims(gateway, app, body.token).visitor;
      if (knownVisitor !== undefined && body?.visitor !== undefined && body.visitor !== knownVisitor)
        throw invalidRequest([{ path: "visitor", message: "differs from the token's visitor: send only one of them" }]);
      const visitor = knownVisitor ?? body?.visitor ?? randomUUID();
      return tokenReply(gateway, app, { slug: app.slug, ownerId, keyId: caller.key?.id ?? "", visitor });
    },
  }),
];
