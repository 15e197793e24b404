import { isNotice, NOTICES, type Notice } from "@nodeloom/kernel";
import type { addresses } from "@nodeloom/proto";
import { z } from "zod";
import { MAILED_RESETS_PER_MINUTE } from "../../http/limits";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";
import { email, MAX_TOKEN_CHARS } from "../sign-in/fields";
import { anonymous, signedIn } from "../sign-in/session";
import { requireMail, send } from "../../edge/mails";
import { jsonBody } from "../../http/body/kinds";

const resetRequest = z.strictObject({ email }).meta({ id: "PasswordResetRequest" });
const verification = z.strictObject({ token: z.string().min(1).max(MAX_TOKEN_CHARS) }).meta({ id: "AddressVerification" });

const DESCRIPTIONS: Readonly<Record<Notice, string>> = {
  lowCredits: "Sent when less than a tenth of the month's plan credits is left",
  budgetAlerts: "Sent when a budget reaches a share in its `alertAt`",
  retiringModels: "Sent 30 and 7 days before a provider shuts down a model that your workflows name",
};
const switches = Object.fromEntries(NOTICES.map((notice) => [notice, z.boolean().meta({ description: DESCRIPTIONS[notice] })])) as Record<
  Notice,
  z.ZodBoolean
>;
const mailState = z
  .object({
    email: z.string(),
    verifiedAt: timestamp.nullable().meta({ description: "Null until the address is verified. No notices are sent before" }),
    notices: z.object(switches),
  })
  .meta({ id: "MailSettings" });
const noticeChanges = z
  .strictObject({ notices: z.strictObject(switches).partial() })
  .meta({ id: "MailChanges", example: { notices: { lowCredits: false } } });

const UNSUBSCRIBE_TOKEN_CHARS = 200;

const stateView = (address: addresses.GetAddressResponse): z.infer<typeof mailState> => ({
  email: address.email,
  verifiedAt: iso(address.verifiedAt),
  notices: Object.fromEntries(NOTICES.map((notice) => [notice, !address.mutedNotices.includes(notice)])) as Record<Notice, boolean>,
});

const linkRoutes = [
  defineRoute({
    ...anonymous,
    path: "/api/auth/password/reset",
    operationId: "requestPasswordReset",
    summary: "Mail a link to set a new password",
    description:
      "The response doesn't reveal whether the address has an account. The link works once, for an hour. It replaces an earlier link and leaves a second factor on. An address gets at most one link in five minutes and ten per day. Accounts without a password, which sign in with a provider, get no link.",
    limit: { ip: MAILED_RESETS_PER_MINUTE },
    body: jsonBody(resetRequest),
    responses: { 202: null },
    errors: ["NOT_CONFIGURED", "CROSS_ORIGIN_DENIED"],
    example: { email: "ada@example.com" },
    handler: async ({ gateway, request, body }) => {
      gateway.sessions.checkOrigin(request, false);
      await send(gateway, { mail: { $case: "passwordReset", value: { email: body.email } } });
      return { status: 202 };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/verify/send",
    operationId: "requestVerification",
    summary: "Mail a link to verify the caller's address",
    description: "Sends at most one mail in five minutes and ten per day. Sends none if the address is verified.",
    responses: { 202: null },
    errors: ["NOT_CONFIGURED"],
    handler: async ({ gateway, caller }) => {
      await send(gateway, { mail: { $case: "verification", value: { userId: caller.user.id } } });
      return { status: 202 };
    },
  }),
  defineRoute({
    ...signedIn,
    path: "/api/auth/verify",
    operationId: "verifyAddress",
    summary: "Verify the caller's address with the mailed token",
    description:
      "`token` follows `#token=` in the link. It works for a day, in a session of its account. Repeating the request changes nothing.",
    body: jsonBody(verification),
    responses: { 204: null },
    errors: ["NOT_CONFIGURED"],
    example: { token: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11.0Yb…" },
    handler: async (context) => {
      const { gateway, caller, body } = context;
      await requireMail(gateway);
      const { id: userId } = caller.user;
      await auditedForOwner(context, { action: "address.verify", target: userId }, async () => ({
        value: await gateway.services.addresses.verifyAddress({ userId, token: body.token }),
      }));
      return { status: 204 };
    },
  }),
];

const noticeRoutes = [
  defineRoute({
    ...signedIn,
    method: "GET",
    path: "/api/me/mail",
    operationId: "getMailSettings",
    summary: "Get the caller's address and the notices it receives",
    responses: { 200: mailState },
    errors: ["NOT_CONFIGURED"],
    handler: async ({ gateway, caller }) => {
      await requireMail(gateway);
      return { status: 200, body: stateView(await gateway.services.addresses.getAddress({ userId: caller.user.id })) };
    },
  }),
  defineRoute({
    ...signedIn,
    method: "PATCH",
    path: "/api/me/mail",
    operationId: "updateMailSettings",
    summary: "Turn notices on or off",
    body: jsonBody(noticeChanges),
    responses: { 200: mailState },
    errors: ["NOT_CONFIGURED"],
    example: { notices: { lowCredits: false } },
    handler: async ({ gateway, caller, body }) => {
      await requireMail(gateway);
      const { addresses: service } = gateway.services;
      const userId = caller.user.id;
      const muted = Object.fromEntries(Object.entries(body.notices).map(([notice, isWanted]) => [notice, !isWanted]));
      const { mutedNotices } = await service.muteNotices({ userId, muted });
      return { status: 200, body: stateView({ ...(await service.getAddress({ userId })), mutedNotices }) };
    },
  }),
  defineRoute({
    ...anonymous,
    path: "/api/mail/unsubscribe",
    operationId: "unsubscribe",
    summary: "Turn off the kind of notice that contained the link",
    description:
      "For mail programs (RFC 8058) and the page of the link; both have the `token`. You needn't be signed in, and the body isn't read. Repeating the request changes nothing.",
    query: z.object({ token: z.string().min(1).max(UNSUBSCRIBE_TOKEN_CHARS) }),
    responses: { 200: z.object({ notice: z.enum(NOTICES) }).meta({ id: "Unsubscribed" }) },
    errors: ["NOT_CONFIGURED", "UNAUTHENTICATED"],
    handler: async ({ gateway, query }) => {
      await requireMail(gateway);
      const { notice } = await gateway.services.addresses.unsubscribe({ token: query.token });
      if (!isNotice(notice)) throw new Error("identity answered with an unknown notice");
      return { status: 200, body: { notice } };
    },
  }),
];

export const mailRoutes = [...linkRoutes, ...noticeRoutes];
