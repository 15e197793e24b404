import { DomainError } from "@nodeloom/kernel";
import { createWindowCounter, type Redis } from "@nodeloom/platform";
import type { App } from "./apps";
import { VISITORS_PER_ADDRESS } from "./limits";

/** Runs per visitor and day (UTC), shared by all gateways; each counts alone while Redis is unavailable. */
export interface Visits {
  /** Counts a run. @throws RATE_LIMIT_EXCEEDED if the visitor has reached the app's limit */
  count(app: App, visitor: string): Promise<void>;
  /** Takes back the count of a run that didn't start. */
  uncount(app: App, visitor: string): Promise<void>;
  remaining(app: App, visitor: string): Promise<number>;
  /** Counts a new visitor against the address. @throws RATE_LIMIT_EXCEEDED */
  countNew(app: App, address: string): Promise<void>;
}

const MS = 1_000;
const DAY_MS = 24 * 60 * 60 * MS;
const DAY_CHARS = "YYYY-MM-DD".length;

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
      // Rejected runs don't count, in case the limit is raised.
      await counter.uncount(keyOf(app, visitor), limit);
      throw tooMany(`a visitor can run this app ${limit} times a day: try again tomorrow (UTC)`, limit);
    },
    uncount: (app, visitor) => counter.uncount(keyOf(app, visitor), app.settings.perVisitorPerDay),
    remaining: async (app, visitor) => {
      const limit = app.settings.perVisitorPerDay;
      return Math.max(0, limit - (await counter.counted(keyOf(app, visitor), limit)));
    },
    countNew: async (app, address) => {
      const { isWithin } = await counter.count(JSON.stringify([today(), app.slug, "address", address]), VISITORS_PER_ADDRESS);
      if (!isWithin) throw tooMany("too many new visitors of this app came from this address today", VISITORS_PER_ADDRESS);
    },
  };
};
