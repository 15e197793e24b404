import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { email, MAX_PASSWORD_CHARS, MAX_PASSWORD_UNITS, MAX_TOKEN_CHARS, password } from "../sign-in/fields";
import { auditedForOwner, recordEvent } from "../../edge/audit";
import { sendSoon } from "../../edge/mails";
import { pendingLogin, pendingLoginView } from "../sign-in/second-step";
import {
  addressOf,
  anonymous,
  ANONYMOUS,
  completeAndSignIn,
  PASSWORD_CALL,
  signedIn,
  signIn,
  startSession,
  withTier,
} from "../sign-in/session";
import { userReply } from "./view";
import { jsonBody } from "../../http/body/kinds";

const MIN_PASSWORD_CHARS = 10;

const PASSWORD_RULES = `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters, not a common password, not the e-mail address`;

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

export const authRoutes = [
  defineRoute({
    ...anonymous,
    path: "/api/auth/register",
    operationId: "register",
    summary: "Create an account and sign in; it awaits approval",
    limit: { ip: ({ registrationLimit }) => registrationLimit },
    body: jsonBody(newCredentials),
    responses: { 201: userReply },
    errors: ["ALREADY_EXISTS", "CROSS_ORIGIN_DENIED"],
    example: { email: "ada@example.com", password: "a loom of many colours" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const { user } = await gateway.services.identity.register({ ...body, address: addressOf(request) }, PASSWORD_CALL);
      if (user) await recordEvent(context, { actorId: user.id, ownerId: user.id, action: "account.create", target: user.id });
      if (user) sendSoon(context, { id: "registered", mail: { $case: "verification", value: { userId: user.id } } });
      return signIn(context, user, 201);
    },
  }),
  defineRoute({
    ...anonymous,
    path: "/api/auth/login",
    operationId: "login",
    summary: "Sign in",
    description:
      "If the account has a second factor, the response is 202, and you sign in by sending its code to `POST /api/auth/login/code`. After ten failed sign-ins to an account, an address must wait for up to 15 minutes, or up to half a minute if it signed in to that account before.",
    body: jsonBody(credentials),
    responses: { 200: userReply, 202: pendingLogin },
    errors: ["UNAUTHENTICATED", "ACCOUNT_SUSPENDED", "CROSS_ORIGIN_DENIED"],
    example: { email: "ada@example.com", password: "correct horse battery staple" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const loginRequest = { ...body, address: addressOf(request) };
      const { user, pending } = await gateway.services.identity.login(loginRequest, PASSWORD_CALL).catch(withTier(ANONYMOUS));
      return pending ? { status: 202, body: pendingLoginView(pending) } : completeAndSignIn(context, user);
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/logout",
    operationId: "logout",
    summary: "Sign out, here or everywhere",
    body: jsonBody(signOut),
    responses: { 204: null },
    example: { everywhere: true },
    handler: async (context) => {
      const { gateway, caller, request, response, body } = context;
      const { id: userId } = caller.user;
      if (body?.everywhere) await gateway.services.identity.endSessions({ userId });
      await gateway.sessions.signOut(request, response);
      const action = body?.everywhere ? "session.delete-all" : "session.delete";
      await recordEvent(context, { actorId: userId, ownerId: userId, action, target: userId });
      return { status: 204 };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/password",
    operationId: "changePassword",
    summary: "Change the caller's password; all other sessions end",
    description: "If `current` is wrong, you get UNAUTHENTICATED and keep the session. Wrong passwords count as failed sign-ins.",
    body: jsonBody(passwordChange),
    responses: { 204: null },
    example: { current: "correct horse battery staple", new: "a loom of many colours" },
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const change = { userId: caller.user.id, currentPassword: body.current, newPassword: body.new, address: addressOf(request) };
      const { user } = await auditedForOwner(context, { action: "password.change", target: change.userId }, async () => ({
        value: await gateway.services.identity.changePassword(change, PASSWORD_CALL).catch(withTier(caller.user.tier)),
      }));
      await startSession(context, user);
      return { status: 204 };
    },
  }),
  defineRoute({
    ...anonymous,
    path: "/api/auth/password-reset",
    operationId: "redeemPasswordReset",
    summary: "Set a password with a link",
    description:
      "`token` follows `#token=` in the link, which was mailed or created by an administrator. It works once, for an hour, and ends all sessions of the account. A mailed link verifies the address. If the address wasn't verified before, the account's keys and its link to a provider end, too.",
    body: jsonBody(passwordReset),
    responses: { 204: null },
    errors: ["UNAUTHENTICATED", "CROSS_ORIGIN_DENIED"],
    example: { token: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11.0Yb…", new: "a loom of many colours" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const reset = { token: body.token, newPassword: body.new, address: addressOf(request) };
      const { user } = await gateway.services.identity.redeemPasswordReset(reset, PASSWORD_CALL);
      if (user) await recordEvent(context, { actorId: user.id, ownerId: user.id, action: "password.reset", target: user.id });
      return { status: 204 };
    },
  }),
];
