/** Turns a proof of identity into a session. */
import { DomainError } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { Request } from "express";
import { toCallerUser } from "../../auth/caller";
import { recordEvent } from "../../edge/audit";
import type { CallContext, Reply } from "../../edge/route";
import { completePlan } from "../../edge/plan-change";
import { userView } from "../identity/view";

type AnyContext = Pick<CallContext, "gateway" | "request" | "response">;

export const anonymous = { method: "POST", tag: "Identity", auth: "none", role: "self", limit: "ip" } as const;
export const signedIn = { method: "POST", tag: "Identity", auth: "session", role: "self", limit: "user" } as const;

export const addressOf = (request: Request): string => request.ip ?? "";

export const startSession = async ({ gateway, request, response }: AnyContext, user: identity.User | undefined): Promise<identity.User> => {
  if (!user) throw new Error("identity answered without a user");
  await gateway.sessions.signIn(request, response, { userId: user.id, epoch: user.sessionEpoch });
  return user;
};

export const signIn = async (context: AnyContext, user: identity.User | undefined, status: number): Promise<Reply> => {
  const signed = await startSession(context, user);
  await recordEvent(context, { actorId: signed.id, ownerId: signed.id, action: "session.create", target: signed.id });
  return { status, body: { user: userView(toCallerUser(signed)) } };
};

/** Signing in works while billing is unavailable. The next sign-in completes the account. */
const completed = ({ gateway }: AnyContext, user: identity.User): Promise<void> =>
  completePlan(gateway.services, user).catch((error: unknown) =>
    gateway.logger.warn({ err: error, userId: user.id }, "an account was not checked for its credits"),
  );

/** Signs in to an account that can still lack its tier's credits. */
export const completeAndSignIn = async (context: AnyContext, user: identity.User | undefined): Promise<Reply> => {
  if (user) await completed(context, user);
  return signIn(context, user, 200);
};

/** Adds a tier to errors: identity counts failures per account and address, and there is no tier without a caller. */
export const withTier =
  (tier: string) =>
  (error: unknown): never => {
    if (!(error instanceof DomainError) || error.reason !== "RATE_LIMIT_EXCEEDED") throw error;
    throw new DomainError(error.kind, error.reason, error.message, { tier, ...error.metadata });
  };
export const ANONYMOUS = "anonymous";
/** Deadline of calls that hash a password. Hashing is slow by design, and concurrent hashes wait for the CPU. */
export const PASSWORD_CALL = { deadlineMs: 20_000 } as const;
