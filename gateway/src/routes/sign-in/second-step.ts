import type { identity } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";
import { userReply } from "../identity/view";
import { code, MAX_TOKEN_CHARS } from "./fields";
import { addressOf, anonymous, ANONYMOUS, completeAndSignIn, withTier } from "./session";
import { jsonBody } from "../../http/body/kinds";

/** Sign-in in two steps: password, then code. */

export const pendingLogin = z
  .object({
    pending: z.string().meta({ description: "Token for `POST /api/auth/login/code` from the same address", example: "mZ3…" }),
    expiresAt: timestamp,
  })
  .meta({ id: "PendingLogin" });

export const pendingLoginView = ({ token, expiresAt }: identity.PendingLogin): Record<string, unknown> => ({
  pending: token,
  expiresAt: iso(expiresAt),
});

const secondStep = z.strictObject({ pending: z.string().min(1).max(MAX_TOKEN_CHARS), code }).meta({ id: "SecondStep" });

export const secondStepRoutes = [
  defineRoute({
    ...anonymous,
    path: "/api/auth/login/code",
    operationId: "completeLogin",
    summary: "Complete a sign-in with the code of the second factor",
    description:
      "`pending` comes from the 202 response to the sign-in. It works once, for five minutes, from the address that sent the password. A code works once. After ten wrong codes, an address waits as after ten wrong passwords.",
    body: jsonBody(secondStep),
    responses: { 200: userReply },
    errors: ["UNAUTHENTICATED", "CROSS_ORIGIN_DENIED", "NOT_CONFIGURED"],
    example: { pending: "mZ3…", code: "123456" },
    handler: async (context) => {
      const { gateway, request, body } = context;
      gateway.sessions.checkOrigin(request, false);
      const step = { token: body.pending, code: body.code, address: addressOf(request) };
      const { user } = await gateway.services.signIn.completeLogin(step).catch(withTier(ANONYMOUS));
      return completeAndSignIn(context, user);
    },
  }),
];
