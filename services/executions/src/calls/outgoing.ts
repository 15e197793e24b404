import { DomainError, OUTGOING, type BaseTier, type OutgoingBudget } from "@nodeloom/kernel";
import type { WindowCounter } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import { countOutgoingWait } from "../meters";
import { pauseFor, QUOTES_ADDRESS, TryAgain } from "./failures";

/** The budget of calls that the platform makes for a user to addresses that users choose. Providers are paid, and not counted. */

export const OUTGOING_WINDOW_SECONDS = 60;
/** The longest name of a host; what is longer leads nowhere. */
const MAX_HOST_CHARS = 253;

/** A budget that is used up. */
interface OverBudget {
  /** Calls a minute. */
  limit: number;
  /** The destination; undefined where the user's calls to all of them are too many. */
  host: string | undefined;
  /** When the call's turn comes, as far as can be said. */
  afterMs: number;
}

const hostOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/\.$/, "").slice(0, MAX_HOST_CHARS) || undefined;
};

const named = ({ limit, host }: OverBudget): string =>
  `more than ${limit} outgoing calls a minute${host === undefined ? "" : ` to ${host}`}`;

/** Whose call it is. */
type OutgoingUser = { userId: string; baseTier?: BaseTier | undefined };

/** Why a call can't be made now. */
const overBudgetError = (over: OverBudget): DomainError => {
  const at = new Date(Date.now() + over.afterMs).toISOString();
  return new DomainError("failed", "OUTGOING_LIMIT_EXCEEDED", `${named(over)}; try again at ${at}`, QUOTES_ADDRESS);
};

export type Outgoing = ReturnType<typeof createOutgoing>;

export interface OutgoingOptions {
  counter: WindowCounter;
  budgets?: typeof OUTGOING;
  /** Of the counter's windows. */
  windowSeconds?: number;
}

/** Counts calls in windows that all processes share. What is too much takes a number: it says in which window its turn comes. */
export const createOutgoing = ({ counter, budgets = OUTGOING, windowSeconds = OUTGOING_WINDOW_SECONDS }: OutgoingOptions) => {
  const count = async (key: string, limit: number): Promise<number | null> => {
    const { isWithin, count: taken, leftMs } = await counter.count(key, limit);
    if (isWithin) return null;
    const windowsAhead = Math.max(0, Math.floor((taken - limit - 1) / limit));
    return leftMs + windowsAhead * windowSeconds * 1_000;
  };

  /** @returns null when the call may be made */
  const take = async (bucket: string, userId: string, url: string, budget: OutgoingBudget): Promise<OverBudget | null> => {
    const host = hostOf(url);
    // The guard refuses it.
    if (host === undefined) return null;
    const { perMinute, perHostPerMinute } = budget;
    const [ofHost, ofUser] = [`${bucket}:${userId}:${host}`, `${bucket}:${userId}`];
    const [hostAfterMs, userAfterMs] = await Promise.all([count(ofHost, perHostPerMinute), count(ofUser, perMinute)]);
    if (hostAfterMs !== null) {
      await counter.uncount(ofUser, perMinute);
      return { limit: perHostPerMinute, host, afterMs: hostAfterMs };
    }
    if (userAfterMs === null) return null;
    await counter.uncount(ofHost, perHostPerMinute);
    return { limit: perMinute, host: undefined, afterMs: userAfterMs };
  };

  /** A run whose row is gone names no tier. */
  const budgetsOf = ({ baseTier = "enterprise" }: OutgoingUser) => budgets[baseTier];

  return {
    /**
     * Counts a call of a run.
     * @param until when its turn must have come, in milliseconds since the epoch
     * @throws TryAgain while its turn may come in time, OUTGOING_LIMIT_EXCEEDED when it won't
     */
    call: async (user: OutgoingUser, url: string, until: number): Promise<void> => {
      const over = await take("calls", user.userId, url, budgetsOf(user).calls);
      if (!over) return;
      const afterMs = pauseFor(over.afterMs);
      const isInTime = Date.now() + afterMs <= until;
      countOutgoingWait("call", isInTime ? "waited" : "refused");
      throw isInTime ? new TryAgain(overBudgetError(over), afterMs) : overBudgetError(over);
    },

    /** Counts an attempt at a webhook. @returns when it is made instead, where it is too many; null when it may be sent */
    webhook: async (user: OutgoingUser, url: string): Promise<TryAgain | null> => {
      const over = await take("webhooks", user.userId, url, budgetsOf(user).webhooks);
      if (!over) return null;
      countOutgoingWait("webhook", "waited");
      return new TryAgain(overBudgetError(over), Math.min(pauseFor(over.afterMs), TIMING.outgoingWait));
    },

    /** Counts a test of a webhook. @throws RATE_LIMIT_EXCEEDED */
    webhookTest: async (userId: string, url: string): Promise<void> => {
      const over = await take("tests", userId, url, budgets.free.webhooks);
      if (!over) return;
      const metadata = { limit: over.limit, retryAfter: Math.max(1, Math.ceil(over.afterMs / 1_000)) };
      throw new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", `${named(over)}: webhook tests`, metadata);
    },
  };
};
