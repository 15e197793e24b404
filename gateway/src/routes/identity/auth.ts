import { DomainError } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { Request } from "express";
import { z } from "zod";
import { toCallerUser } from "../../auth/caller";
import { defineRoute, type CallContext, type Reply } from "../../http/route";
import { completePlan } from "../admin/plan-change";
import { userReply, userView } from "./view";

const MAX_EMAIL_CHARS = 254;
const MIN_PASSWORD_CHARS = 10;
const MAX_PASSWORD_CHARS = 200;
/** Characters are counted by identity, as people count them: one may take two units of a string. */
const MAX_PASSWORD_UNITS = 2 * MAX_PASSWORD_CHARS;
const MAX_TOKEN_CHARS = 200;

const PASSWORD_RULES = `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters, not a common password, not the e-mail address`;

/** Described by its pattern alone: validators differ in what they call an e-mail address. */
const email = z
  .email()
  .max(MAX_EMAIL_CHARS)
  .meta({ example: "ada@example.com", override: { format: null } });
const password = z
  .string()
  .min(1)
  .max(MAX_PASSWORD_UNITS)
  .meta({ format: "password", example: "correct horse battery staple", override: { maxLength: MAX_PASSWORD_CHARS } });
const newPassword = z
  .string()
  .min(1)
  .max(2 * MAX_PASSWORD_UNITS)
  .meta({
    format: "password",
    example: "a loom of many colours",
    description: PASSWORD_RULES,
    override: { minLength: MIN_PASSWORD_CHARS, maxLength: MAX_PASSWORD_CHARS },
  });
const credentials = z.strictObject({ email, password }).meta({ id: "Credentials" });
const newCredentials = z.strictObject({ email, password: newPassword }).meta({ id: "NewCredentials" });
const passwordChange = z.strictObject({ current: password, new: newPassword }).meta({ id: "PasswordChange" });
const passwordReset = z.strictObject({ token: z.string().min(1).max(MAX_TOKEN_CHARS), new: newPassword }).meta({ id: "PasswordReset" });
const signOut = z
  .strictObject({ everywhere: z.boolean().optional().meta({ description: "End all sessions of the account, not only this one" }) })
  .optional()
  .meta({ id: "SignOut" });

type AnyContext = Pick<CallContext, "gateway" | "request" | "response">;

const anonymous = { method: "POST", tag: "Identity", auth: "none", limit: "ip" } as const;
const signedIn = { method: "POST", tag: "Identity", auth: "session", limit: "user" } as const;

const addressOf = (request: Request): string => request.ip ?? "";

const startSession = async ({ gateway, request, response }: AnyContext, user: identity.User | undefined): Promise<identity.User> => {
  if (!user) throw new Error("identity answered without a user");
  await gateway.sessions.signIn(request, response, { userId: user.id, epoch: user.sessionEpoch });
  return user;
};

const signIn = async (context: AnyContext, user: identity.User | undefined, status: number): Promise<Reply> => ({
  status,
  body: { user: userView(toCallerUser(await startSession(context, user))) },
});

/** Signing in works while billing is away; the next sign-in completes the account. */
const completed = ({ gateway }: AnyContext, user: identity.User): Promise<void> =>
  completePlan(gateway.services, user).catch((error: unknown) =>
    gateway.logger.warn({ err: error, userId: user.id }, "an account was not checked for its credits"),
  );

/** Identity counts failures per account and address; a client without a caller has no tier. */
const withTier =
  (tier: string) =>
  (error: unknown): never => {
    if (!(error instanceof DomainError) || error.reason !== "RATE_LIMIT_EXCEEDED") throw error;
    throw new DomainError(error.kind, error.reason, error.message, { tier, ...error.metadata });
  };
const ANONYMOUS = "anonymous";
/** Of calls that hash a password: a hash is slow by design, and several at once wait for the CPU, for longer than a call's usual 5 s. */
const PASSWORD_CALL = { deadlineMs: 20_000 } as const;

export const authRoutes = [
  defineRoute({
    ...anonymous,
    path: "/api/auth/register",
    operationId: "register",
    summary: "Create an account and sign in; it awaits approval",
    addressLimit: ({ registrationLimit }) => registrationLimit,
    body: newCredentials,
    responses: { 201: userReply },
    errors: ["ALREADY_EXISTS", "CROSS_ORIGIN_DENIED"],
    example: { email: "ada@example.com", password: "a loom of many colours" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const { user } = await gateway.services.identity.register({ ...body, address: addressOf(request) }, PASSWORD_CALL);
      return signIn(context, user, 201);
    },
  }),
  defineRoute({
    ...anonymous,
    path: "/api/auth/login",
    operationId: "login",
    summary: "Sign in",
    description:
      "After ten failures at an account, an address must wait for up to 15 minutes, and for half a minute at most where it has signed in to that account before.",
    body: credentials,
    responses: { 200: userReply },
    errors: ["UNAUTHENTICATED", "ACCOUNT_SUSPENDED", "CROSS_ORIGIN_DENIED"],
    example: { email: "ada@example.com", password: "correct horse battery staple" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const sent = { ...body, address: addressOf(request) };
      const { user } = await gateway.services.identity.login(sent, PASSWORD_CALL).catch(withTier(ANONYMOUS));
      if (user) await completed(context, user);
      return signIn(context, user, 200);
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/logout",
    operationId: "logout",
    summary: "Sign out, here or everywhere",
    body: signOut,
    responses: { 204: null },
    example: { everywhere: true },
    handler: async ({ gateway, caller, request, response, body }) => {
      if (body?.everywhere) await gateway.services.identity.endSessions({ userId: caller.user.id });
      await gateway.sessions.signOut(request, response);
      return { status: 204 };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/password",
    operationId: "changePassword",
    summary: "Change the caller's password; all other sessions end",
    description: "UNAUTHENTICATED when `current` is wrong; the session goes on. Wrong ones are counted as failed sign-ins are.",
    body: passwordChange,
    responses: { 204: null },
    example: { current: "correct horse battery staple", new: "a loom of many colours" },
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const change = { userId: caller.user.id, currentPassword: body.current, newPassword: body.new, address: addressOf(request) };
      const { user } = await gateway.services.identity.changePassword(change, PASSWORD_CALL).catch(withTier(caller.user.tier));
      await startSession(context, user);
      return { status: 204 };
    },
  }),
  defineRoute({
    ...anonymous,
    path: "/api/auth/password-reset",
    operationId: "redeemPasswordReset",
    summary: "Set a password by a link that an administrator made",
    description: "`token` is what follows `#token=` in the link. It works once, for an hour; all sessions of the account end.",
    body: passwordReset,
    responses: { 204: null },
    errors: ["UNAUTHENTICATED", "CROSS_ORIGIN_DENIED"],
    example: { token: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11.0Yb…", new: "a loom of many colours" },
    handler: async ({ gateway, request, body }) => {
      gateway.sessions.checkOrigin(request, false);
      const reset = { token: body.token, newPassword: body.new, address: addressOf(request) };
      await gateway.services.identity.redeemPasswordReset(reset, PASSWORD_CALL);
      return { status: 204 };
    },
  }),
];
