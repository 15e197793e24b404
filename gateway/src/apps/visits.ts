import { DomainError } from "@nodeloom/kernel";
import { createWindowCounter, type Redis } from "@nodeloom/platform";
import type { App } from "./apps";
import { VISITORS_PER_ADDRESS } from "./limits";

/** Runs of each visitor in a day (UTC), shared by every gateway; each counts by itself while Redis is away. */
export interface Visits {
  /** Counts a run. @throws RATE_LIMIT_EXCEEDED where the visitor has had as many as the app allows */
  count(app: App, visitor: string): Promise<void>;
  /** Gives one back that did not begin. */
  uncount(app: App, visitor: string): Promise<void>;
  left(app: App, visitor: string): Promise<number>;
  /** Counts a visitor who is new against the address. @throws RATE_LIMIT_EXCEEDED */
  countNew(app: App, address: string): Promise<void>;
}

const MS = 1_000;
const DAY_MS = 24 * 60 * 60 * MS;
const DAY_CHARS = "YYYY-MM-DD".length;

/** When the day ends. */
export const endOfDay = (nowMs = Date.now()): Date => new Date((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS);

const tooMany = (message: string, limit: number): DomainError =>
  new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", message, {
    tier: "app",
    limit,
    retryAfter: Math.ceil((endOfDay().getTime() - Date.now()) / MS),
  });

export const createVisits = ({ redis, keyPrefix }: { redis: Redis; keyPrefix: string }): Visits => {
  const counter = createWindowCounter({ redis, keyPrefix: `${keyPrefix}visits`, windowSeconds: DAY_MS / MS });
  const today = (): string => new Date().toISOString().slice(0, DAY_CHARS);
  const keyOf = ({ slug, ownerId }: App, visitor: string): string => JSON.stringify([today(), ownerId, slug, visitor]);

  return {
    count: async (app, visitor) => {
      const limit = app.settings.perVisitorPerDay;
      const { isWithin } = await counter.count(keyOf(app, visitor), limit);
      if (isWithin) return;
      // What was refused doesn't count, where more are allowed later.
      await counter.uncount(keyOf(app, visitor), limit);
      throw tooMany(`a visitor may run this app ${limit} times a day`, limit);
    },
    uncount: (app, visitor) => counter.uncount(keyOf(app, visitor), app.settings.perVisitorPerDay),
    left: async (app, visitor) => {
      const limit = app.settings.perVisitorPerDay;
      return Math.max(0, limit - (await counter.counted(keyOf(app, visitor), limit)));
    },
    countNew: async (app, address) => {
      const { isWithin } = await counter.count(JSON.stringify([today(), app.slug, "address", address]), VISITORS_PER_ADDRESS);
      if (!isWithin) throw tooMany("too many visitors of this app have this address today", VISITORS_PER_ADDRESS);
    },
  };
};
