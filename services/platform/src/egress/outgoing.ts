import { OUTGOING, type BaseTier, type OutgoingBudget } from "@nodeloom/kernel";
import type { WindowCounter } from "../stores/window-counter";

/** The budget of calls that the platform makes for a user to addresses that users choose. Providers are paid, and not counted. */

export const OUTGOING_WINDOW_SECONDS = 60;
/** The longest name of a host; what is longer leads nowhere. */
const MAX_HOST_CHARS = 253;
const MIN_PAUSE_MS = 250;
/** Spread over callers whose turn comes at the same moment, as a share of the pause. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

/** A budget that is used up. */
export interface OverBudget {
  /** Calls a minute. */
  limit: number;
  /** When the call's turn comes, as far as can be said. */
  afterMs: number;
  /** That, with jitter. */
  pauseMs: number;
  /** Names the budget, with the destination where that is what is called too often. */
  name: string;
}

/** Whose call it is. */
export type OutgoingUser = { userId: string; baseTier?: BaseTier | undefined };

/** `tests`: of webhooks, which have the smallest budget of webhooks, whatever the tier. */
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
  /** Of the counter's windows. */
  windowSeconds?: number;
}

/** Counts a call. @returns null when it may be made */
export type TakeOutgoing = (kind: OutgoingKind, user: OutgoingUser, url: string) => Promise<OverBudget | null>;

/** Counts calls in windows that all processes share. What is too much takes a number: it says in which window its turn comes. */
export const createOutgoingBudget = ({
  counter,
  budgets = OUTGOING,
  windowSeconds = OUTGOING_WINDOW_SECONDS,
}: OutgoingOptions): TakeOutgoing => {
  const count = async (key: string, limit: number): Promise<number | null> => {
    const { isWithin, count: taken, leftMs } = await counter.count(key, limit);
    if (isWithin) return null;
    const windowsAhead = Math.max(0, Math.floor((taken - limit - 1) / limit));
    return leftMs + windowsAhead * windowSeconds * 1_000;
  };

  /** A run whose row is gone names no tier. */
  const budgetOf = (kind: OutgoingKind, { baseTier = "enterprise" }: OutgoingUser): OutgoingBudget =>
    kind === "tests" ? budgets.free.webhooks : budgets[baseTier][kind];

  return async (kind, user, url) => {
    const host = hostOf(url);
    // The guard refuses it.
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
