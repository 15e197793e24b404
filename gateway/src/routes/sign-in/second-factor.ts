import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";
import { audited, auditedForOwner } from "../../edge/audit";
import { ofUser } from "../admin/shared";
import { code, password } from "./fields";
import { addressOf, PASSWORD_CALL, signedIn, startSession, withTier } from "./session";
import { jsonBody } from "../../http/body/kinds";

const secondFactor = z
  .object({
    available: z.boolean().meta({ description: "True if the installation can store its secret" }),
    onSince: timestamp.nullable().meta({ description: "Null while it is off" }),
    recoveryCodesLeft: z.int(),
    hasPassword: z.boolean().meta({ description: "True if the account has a password. Without one, a second factor has no use" }),
  })
  .meta({ id: "SecondFactor" });
const enrolment = z
  .object({
    secret: z.string().meta({ description: "Base32, to enter in an authenticator. Shown only once", example: "JBSWY3DPEHPK3PXP" }),
    url: z.string().meta({ description: "The secret as an address for a QR code", example: "otpauth://totp/…" }),
  })
  .meta({ id: "SecondFactorEnrolment" });
const recoveryCodes = z
  .object({ recoveryCodes: z.array(z.string()).meta({ description: "Each replaces a code once. Shown only once" }) })
  .meta({ id: "RecoveryCodes" });

const byPassword = z.strictObject({ password }).meta({ id: "ByPassword" });
const byCode = z.strictObject({ code }).meta({ id: "ByCode" });
const byBoth = z.strictObject({ password, code }).meta({ id: "ByPasswordAndCode" });
const EXAMPLE = { password: "correct horse battery staple", code: "123456" };

export const secondFactorRoutes = [
  defineRoute({
    ...signedIn,
    method: "GET",
    path: "/api/auth/second-factor",
    operationId: "getSecondFactor",
    summary: "Get the state of the caller's second factor",
    responses: { 200: secondFactor },
    handler: async ({ gateway, caller }) => {
      const state = await gateway.services.signIn.getSecondFactor({ userId: caller.user.id });
      const { configured: available, onSince, recoveryCodes: recoveryCodesLeft, hasPassword } = state;
      return { status: 200, body: { available, onSince: iso(onSince), recoveryCodesLeft, hasPassword } };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/second-factor",
    operationId: "enrolSecondFactor",
    summary: "Create the secret of a second factor",
    description: "It takes effect once it is confirmed. An earlier unconfirmed secret stops working.",
    body: jsonBody(byPassword),
    responses: { 201: enrolment },
    errors: ["PRECONDITION_FAILED", "NOT_CONFIGURED"],
    example: { password: EXAMPLE.password },
    handler: async ({ gateway, caller, request, body }) => {
      const by = { userId: caller.user.id, password: body.password, address: addressOf(request) };
      const { secret, url } = await gateway.services.signIn.enrolSecondFactor(by, PASSWORD_CALL).catch(withTier(caller.user.tier));
      return { status: 201, body: { secret, url } };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/second-factor/confirm",
    operationId: "confirmSecondFactor",
    summary: "Turn the second factor on with a code; all other sessions end",
    body: jsonBody(byCode),
    responses: { 200: recoveryCodes },
    errors: ["PRECONDITION_FAILED", "NOT_CONFIGURED"],
    example: { code: EXAMPLE.code },
    handler: async (context) => {
      const { gateway, caller, body } = context;
      const { id: userId } = caller.user;
      const { user, recoveryCodes: codes } = await auditedForOwner(
        context,
        { action: "second-factor.enable", target: userId },
        async () => {
          const value = await gateway.services.signIn.confirmSecondFactor({ userId, code: body.code });
          return { value, after: { recoveryCodes: value.recoveryCodes.length } };
        },
      );
      await startSession(context, user);
      return { status: 200, body: { recoveryCodes: codes } };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/second-factor/disable",
    operationId: "disableSecondFactor",
    summary: "Turn the second factor off, with the password and a code",
    description: "If the password or the code is wrong, you get UNAUTHENTICATED and keep the session. Wrong ones count as failed sign-ins.",
    body: jsonBody(byBoth),
    responses: { 204: null },
    errors: ["PRECONDITION_FAILED", "NOT_CONFIGURED"],
    example: EXAMPLE,
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const by = { userId: caller.user.id, ...body, address: addressOf(request) };
      await auditedForOwner(context, { action: "second-factor.disable", target: by.userId }, async () => ({
        value: await gateway.services.signIn.removeSecondFactor(by, PASSWORD_CALL).catch(withTier(caller.user.tier)),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "DELETE",
    path: "/api/admin/users/:id/second-factor",
    operationId: "adminResetSecondFactor",
    summary: "Disable the second factor of a user who lost access to it",
    description:
      "Otherwise only the user can turn it off, with the password and a code. New passwords and reset links leave it on. Repeating the request changes nothing.",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, params } = context;
      await audited(context, { action: "user.second-factor-reset", target: params.id }, async () => {
        const { removed } = await gateway.services.signIn.resetSecondFactor({ userId: params.id });
        return { value: removed, before: { secondFactor: removed }, after: { secondFactor: false } };
      });
      return { status: 204 };
    },
  }),
];
