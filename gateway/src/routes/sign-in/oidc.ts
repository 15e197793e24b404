import { DomainError } from "@nodeloom/kernel";
import type { signIn as messages } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { auditedForOwner, recordEvent } from "../../edge/audit";
import { defineRoute, type CallContext, type Reply } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";
import { applyPlan, setConcurrency } from "../../edge/plan-change";
import { hasMail } from "../../edge/mails";
import { password } from "./fields";
import { addressOf, anonymous, completeAndSignIn, PASSWORD_CALL, signedIn, withTier } from "./session";
import { jsonBody } from "../../http/body/kinds";

/** Sign-in through the operator's OpenID Connect provider. */

const CALLBACK = "/api/auth/oidc/callback";
/** Two calls to the provider, ten seconds each. */
const PROVIDER_CALL = { deadlineMs: 25_000 } as const;
const MAX_RETURN_CHARS = 2_000;

/** A local path that browsers can't read as another host. */
const RETURN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;
const returnTo = z
  .string()
  .max(MAX_RETURN_CHARS)
  .regex(RETURN_PATH, "must be a path of this site")
  .default("/")
  .meta({ description: "Path of the page to open after the sign-in", example: "/workflows" });

/** The console's page for failed sign-ins and codes. The fragment after `#` isn't sent to servers. */
const failedAt = (problem: string): string => `/#sign-in-failed=${encodeURIComponent(problem)}`;
const codeAt = (pending: string, page: string): string => `${page.split("#")[0]}#sign-in-code=${pending}`;

type AnyContext = Pick<CallContext, "gateway" | "request" | "response" | "logger">;

const redirectUri = ({ publicBaseUrl }: Gateway): string => `${publicBaseUrl}${CALLBACK}`;

const redirect = (location: string): Reply => ({ status: 303, headers: { Location: location, "Cache-Control": "no-store" } });

/** A person sees this response, so the console shows the error. */
const orFailed = async (work: () => Promise<Reply>, { gateway, logger }: AnyContext): Promise<Reply> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason === "NOT_CONFIGURED" || error.reason === "RATE_LIMIT_EXCEEDED") throw error;
    const { problem } = error.metadata;
    if (error.kind === "internal") logger.error({ err: error }, "a sign-in by the provider failed");
    return redirect(gateway.publicBaseUrl + failedAt(typeof problem === "string" ? problem : error.reason));
  }
};

/** Redirects to the provider. The cookie is needed for the redirect back. */
const leave = ({ gateway, response }: AnyContext, { url, browser }: messages.StartOidcResponse): string => {
  gateway.oidcCookie.set(response, browser);
  return url;
};

/** Applies changed claims to credits and concurrency, as after an administrator's change. */
const applyChange = async ({ gateway }: AnyContext, { user, before }: messages.FinishOidcResponse): Promise<void> => {
  if (!user || !before || (user.tier === before.tier && user.approved === before.approved)) return;
  await applyPlan(gateway.services, before, user);
  await setConcurrency(gateway.services, user, gateway.logger);
};

const oidcState = z
  .object({
    name: z.string().nullable().meta({ description: "Name of the provider; null if none is configured" }),
    linkedAt: timestamp.nullable().meta({ description: "Null if the account isn't linked to the provider" }),
  })
  .meta({ id: "OidcState" });
const methods = z
  .object({
    password: z.literal(true),
    oidc: z.object({ name: z.string() }).nullable().meta({ description: "The provider for signing in" }),
    mail: z.literal(true).optional().meta({ description: "Set if `POST /api/auth/password/reset` can mail a link" }),
  })
  .meta({ id: "SignInMethods" });

export const oidcRoutes = [
  defineRoute({
    ...anonymous,
    method: "GET",
    path: "/api/auth/methods",
    operationId: "getSignInMethods",
    summary: "List the ways to sign in",
    responses: { 200: methods },
    handler: async ({ gateway }) => {
      const [{ oidcName }, mails] = await Promise.all([gateway.services.signIn.getSignInMethods({}), hasMail(gateway)]);
      return { status: 200, body: { password: true, oidc: oidcName ? { name: oidcName } : null, ...(mails ? { mail: true } : {}) } };
    },
  }),
  defineRoute({
    ...anonymous,
    method: "GET",
    path: "/api/auth/oidc/start",
    operationId: "startOidc",
    summary: "Send a browser to the provider to sign in",
    description:
      "Redirects the browser to `returnTo` with a session, or to `/#sign-in-failed=…`. If the account has a second factor, it redirects to `#sign-in-code=…`, whose value is the `pending` of `POST /api/auth/login/code`.",
    query: z.object({ returnTo }),
    responses: { 303: null },
    headers: ["Location"],
    errors: ["NOT_CONFIGURED"],
    handler: (context) =>
      orFailed(async () => {
        const { gateway, query } = context;
        const start = { redirectUri: redirectUri(gateway), returnTo: query.returnTo, link: undefined };
        return redirect(leave(context, await gateway.services.signIn.startOidc(start, PROVIDER_CALL)));
      }, context),
  }),
  defineRoute({
    ...anonymous,
    method: "GET",
    path: CALLBACK,
    operationId: "finishOidc",
    summary: "Receive the browser from the identity provider",
    query: z.looseObject({}),
    responses: { 303: null },
    headers: ["Location"],
    errors: ["NOT_CONFIGURED"],
    handler: (context) =>
      orFailed(async () => {
        const { gateway, request, response } = context;
        const url = gateway.publicBaseUrl + request.originalUrl;
        const back = { url, browser: gateway.oidcCookie.take(request, response), address: addressOf(request) };
        const finished = await gateway.services.signIn.finishOidc(back, PROVIDER_CALL);
        const page = finished.returnTo || "/";
        await applyChange(context, finished);
        if (finished.pending) return redirect(gateway.publicBaseUrl + codeAt(finished.pending.token, page));
        const { user, linkedUserId: linked } = finished;
        if (user) await completeAndSignIn(context, user);
        if (linked) await recordEvent(context, { actorId: linked, ownerId: linked, action: "oidc.link", target: linked });
        return redirect(gateway.publicBaseUrl + page);
      }, context),
  }),
  defineRoute({
    ...signedIn,
    method: "GET",
    path: "/api/auth/oidc",
    operationId: "getOidc",
    summary: "Get the link between the caller's account and the provider",
    responses: { 200: oidcState },
    handler: async ({ gateway, caller }) => {
      const { name, linkedAt } = await gateway.services.signIn.getOidc({ userId: caller.user.id });
      return { status: 200, body: { name: name ?? null, linkedAt: iso(linkedAt) } };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/oidc/link",
    operationId: "linkOidc",
    summary: "Link the caller's account to the provider, with the password",
    description: "Returns the address that the same browser opens next.",
    body: jsonBody(z.strictObject({ password, returnTo }).meta({ id: "OidcLink" })),
    responses: { 200: z.object({ url: z.string() }).meta({ id: "OidcAddress" }) },
    errors: ["NOT_CONFIGURED"],
    example: { password: "correct horse battery staple", returnTo: "/account" },
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const by = { userId: caller.user.id, password: body.password, address: addressOf(request) };
      const start = { redirectUri: redirectUri(gateway), returnTo: body.returnTo, link: by };
      const signIn = await gateway.services.signIn.startOidc(start, PROVIDER_CALL).catch(withTier(caller.user.tier));
      return { status: 200, body: { url: leave(context, signIn) } };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/oidc/unlink",
    operationId: "unlinkOidc",
    summary: "Unlink the caller's account from the provider, with the password",
    body: jsonBody(z.strictObject({ password }).meta({ id: "OidcUnlink" })),
    responses: { 204: null },
    example: { password: "correct horse battery staple" },
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const by = { userId: caller.user.id, password: body.password, address: addressOf(request) };
      await auditedForOwner(context, { action: "oidc.unlink", target: by.userId }, async () => ({
        value: await gateway.services.signIn.unlinkOidc(by, PASSWORD_CALL).catch(withTier(caller.user.tier)),
      }));
      return { status: 204 };
    },
  }),
];
