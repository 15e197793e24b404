import { OUTGOING, type BaseTier, type OutgoingBudget } from "@nodeloom/kernel";
import type { WindowCounter } from "../stores/window-counter";

/** Budget of calls that Nodeloom makes for a user to hosts that users choose. Calls to providers are paid, so they don't count. */

export const OUTGOING_WINDOW_SECONDS = 60;
/** Maximum length of a valid host name. Longer names can't be resolved. */
const MAX_HOST_CHARS = 253;
const MIN_PAUSE_MS = 250;
/** Random share of a pause, so that callers whose turn comes at the same time don't retry together. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

export interface OverBudget {
  /** Calls per minute. */
  limit: number;
  /** Estimated time until the call can be made, in milliseconds. */
  afterMs: number;
  /** `afterMs` with jitter. */
  pauseMs: number;
  /** Name of the budget. Includes the destination if its limit is exhausted. */
  name: string;
}

/** Account for which the call is made. */
export type OutgoingUser = { userId: string; baseTier?: BaseTier | undefined };

/** `tests` are test calls of webhooks. Every tier has the smallest webhook budget for them. */
export type OutgoingKind = "calls" | "webhooks" | "tests";

const hostOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "").slice(0, MAX_HOST_CHARS) || undefined;
};

const over = (limit: number, afterMs: number, host?: string): OverBudget => {
  const pause = Math.max(MIN_PAUSE_MS, afterMs);
  return {
    ...{ limit, afterMs },
    pauseMs: Math.ceil(pause + Math.random() * Math.min(MAX_JITTER_MS, pause * JITTER)),
    name: `more than ${limit} outgoing calls a minute${host === undefined ? "" : ` to ${host}`}`,
  };
};

export interface OutgoingOptions {
  counter: WindowCounter;
  budgets?: typeof OUTGOING;
  windowSeconds?: number;
}

/**
 * Counts a call.
 * @returns null if the call can be made
 */
export type TakeOutgoing = (kind: OutgoingKind, user: OutgoingUser, url: string) => Promise<OverBudget | null>;

/** Counts calls in windows shared by all processes. A call above the limit gets a number, which determines the window of its turn. */
export const createOutgoingBudget = ({
  counter,
  budgets = OUTGOING,
  windowSeconds = OUTGOING_WINDOW_SECONDS,
}: OutgoingOptions): TakeOutgoing => {
  const count = async (key: string, limit: number): Promise<number | null> => {
    const { isWithin, count: attempts, leftMs } = await counter.count(key, limit);
    if (isWithin) return null;
    const windowsAhead = Math.max(0, Math.floor((attempts - limit - 1) / limit));
    return leftMs + windowsAhead * windowSeconds * 1_000;
  };

  /** The tier is missing if the run's row is deleted. */
  const budgetOf = (kind: OutgoingKind, { baseTier = "enterprise" }: OutgoingUser): OutgoingBudget =>
    kind === "tests" ? budgets.free.webhooks : budgets[baseTier][kind];

  return async (kind, user, url) => {
    const host = hostOf(url);
    // The client rejects such a URL.
    if (host === undefined) return null;
    const { perMinute, perHostPerMinute } = budgetOf(kind, user);
    const [ofHost, ofUser] = [`${kind}:${user.userId}:${host}`, `${kind}:${user.userId}`];
    const [hostAfterMs, userAfterMs] = await Promise.all([count(ofHost, perHostPerMinute), count(ofUser, perMinute)]);
    if (hostAfterMs !== null) {
      await counter.uncount(ofUser, perMinute);
      return over(perHostPerMinute, hostAfterMs, host);
    }
    if (userAfterMs === null) return null;
    await counter.uncount(ofHost, perHostPerMinute);
    return over(perMinute, userAfterMs);
  };
};
