/** Audit rows of refused attempts: requests that a caller isn't allowed to make. */
import { DomainError } from "@nodeloom/kernel";
import type { Response } from "express";
import type { Caller } from "../auth/caller";
import { errorReply } from "../http/errors";
import { recordEvent } from "./audit";
import type { Gateway } from "./gateway";
import type { Route } from "./route";

const FORBIDDEN = 403;
interface Attempt {
  response: Response;
  caller: Caller | undefined;
}

/** Records a 403 in the background. Visitors of apps and senders of hooks have no rows: anyone can be one. */
export const noteRefused = (gateway: Gateway, route: Route, { response, caller }: Attempt, error: unknown): void => {
  if (!caller || caller.visitor || caller.hook || !(error instanceof DomainError) || errorReply(error).status !== FORBIDDEN) return;
  const ids = { actorId: caller.person.id, ownerId: caller.user.id, keyId: caller.key?.id ?? "" };
  const target = `${route.method} ${route.path}`;
  const attempt = gateway.refusals.first([ids.ownerId, ids.actorId, ids.keyId, target]);
  if (attempt) void recordEvent({ gateway, response }, { ...ids, action: "request.refused", target, errorCode: error.reason, attempt });
};
