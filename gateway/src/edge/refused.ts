/** Audit rows of refused attempts: requests that a caller isn't allowed to make. */
import { DomainError } from "@nodeloom/kernel";
import type { Response } from "express";
import type { Caller } from "../auth/caller";
import { errorReply } from "../http/errors";
import { recordEvent } from "./audit";
import type { Gateway } from "./gateway";
import type { Route } from "./route";

const FORBIDDEN = 403;
/** Refused attempts of one caller at one route within this time share a row. */
const SHARED_MS = 60_000;
/** Maximum attempts that a process remembers and records within that time. */
const REMEMBERED = 10_000;

export interface Refusals {
  /** Identity of an attempt in this minute; undefined if the process has recorded it already. */
  first(attempt: readonly string[]): readonly string[] | undefined;
}

export const createRefusals = (clock: () => number = Date.now): Refusals => {
  const recorded = new Set<string>();
  let minute = 0;
  return {
    first: (attempt) => {
      const now = Math.floor(clock() / SHARED_MS);
      if (now !== minute) recorded.clear();
      minute = now;
      const name = JSON.stringify(attempt);
      if (recorded.has(name) || recorded.size >= REMEMBERED) return undefined;
      recorded.add(name);
      return [...attempt, String(minute)];
    },
  };
};

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
