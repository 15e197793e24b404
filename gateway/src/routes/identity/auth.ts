import { DomainError } from "@nodeloom/kernel";
import { z } from "zod";
import { completePlan } from "../admin/plan-change";
import { defineRoute, type CallContext, type Reply } from "../../http/route";
import { userReply, userView } from "./view";
import { toCallerUser } from "../../auth/caller";
import type { identity } from "@nodeloom/proto";

const MAX_EMAIL_CHARS = 254;
const MIN_PASSWORD_CHARS = 8;
const MAX_PASSWORD_CHARS = 256;

/** Described by its pattern alone: validators differ in what they call an e-mail address. */
const email = z
  .email()
  .max(MAX_EMAIL_CHARS)
  .meta({ example: "ada@example.com", override: { format: null } });
const password = z.string().min(1).max(MAX_PASSWORD_CHARS).meta({ format: "password", example: "correct horse battery staple" });
const credentials = z.strictObject({ email, password }).meta({ id: "Credentials" });
const newCredentials = credentials.extend({ password: password.min(MIN_PASSWORD_CHARS) }).meta({ id: "NewCredentials" });

type AuthContext = CallContext<"none", unknown, unknown, z.infer<typeof credentials>>;

const shared = {
  method: "POST",
  tag: "Identity",
  auth: "none",
  limit: "ip",
  example: { email: "ada@example.com", password: "correct horse battery staple" },
} as const;

const signIn = async ({ gateway, request, response }: AuthContext, user: identity.User | undefined, status: number): Promise<Reply> => {
  if (!user) throw new Error("identity answered without a user");
  await gateway.sessions.signIn(request, response, user.id);
  return { status, body: { user: userView(toCallerUser(user)) } };
};

/** Nobody is kept out because billing is away: the next sign-in completes it. */
const completed = ({ gateway }: AuthContext, user: identity.User): Promise<void> =>
  completePlan(gateway.services, user).catch((error: unknown) =>
    gateway.logger.warn({ err: error, userId: user.id }, "an account was not checked for its credits"),
  );

/** Identity counts failures per account; a client without a caller has no tier. */
const withTier = (error: unknown): never => {
  if (!(error instanceof DomainError) || error.reason !== "RATE_LIMIT_EXCEEDED") throw error;
  throw new DomainError(error.kind, error.reason, error.message, { tier: "anonymous", ...error.metadata });
};

export const authRoutes = [
  defineRoute({
    ...shared,
    path: "/api/auth/register",
    operationId: "register",
    summary: "Create an account and sign in; it awaits approval",
    body: newCredentials,
    responses: { 201: userReply },
    errors: ["ALREADY_EXISTS", "CROSS_ORIGIN_DENIED"],
    handler: async (context) => {
      context.gateway.sessions.checkOrigin(context.request, false);
      const { user } = await context.gateway.services.identity.register(context.body);
      return signIn(context, user, 201);
    },
  }),
  defineRoute({
    ...shared,
    path: "/api/auth/login",
    operationId: "login",
    summary: "Sign in",
    body: credentials,
    responses: { 200: userReply },
    errors: ["UNAUTHENTICATED", "CROSS_ORIGIN_DENIED"],
    handler: async (context) => {
      context.gateway.sessions.checkOrigin(context.request, false);
      const { user } = await context.gateway.services.identity.login(context.body).catch(withTier);
      if (user) await completed(context, user);
      return signIn(context, user, 200);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/auth/logout",
    operationId: "logout",
    summary: "Sign out",
    tag: "Identity",
    auth: "session",
    limit: "user",
    responses: { 204: null },
    handler: async ({ gateway, request, response }) => {
      await gateway.sessions.signOut(request, response);
      return { status: 204 };
    },
  }),
];
