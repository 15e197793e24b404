import type { RequestHandler } from "express";
import { z } from "zod";
import { ProviderError } from "./provider-error";
import { waitWithClient } from "./requests";

const MAX_PAUSE_MS = 120_000;
const MAX_BUSY_MS = 600_000;

/** Faults for every provider request, until they are reset. */
export const globalFaultsSchema = z.strictObject({
  /** Delay of every request. */
  pauseMs: z.int().min(0).max(MAX_PAUSE_MS).default(0),
  /** Share of requests that fail with 500, spread evenly. */
  errorRate: z.number().min(0).max(1).default(0),
  /** Truncates responses to invalid JSON. The requested work is still done. */
  malformed: z.boolean().default(false),
  /** Time for which every request gets 429 with Retry-After. */
  busyMs: z.int().min(0).max(MAX_BUSY_MS).default(0),
});
export type GlobalFaultSettings = z.infer<typeof globalFaultsSchema>;

export interface GlobalFaults {
  settings(): GlobalFaultSettings;
  set(settings: GlobalFaultSettings): void;
  clear(): void;
  inflict: RequestHandler;
}

const NONE: GlobalFaultSettings = { pauseMs: 0, errorRate: 0, malformed: false, busyMs: 0 };

export const createGlobalFaults = (clock: () => number): GlobalFaults => {
  let current = NONE;
  let debt = 0;
  let busyUntil = 0;
  const set = (settings: GlobalFaultSettings): void => {
    current = settings;
    debt = 0;
    busyUntil = clock() + settings.busyMs;
  };
  const isUnlucky = (): boolean => {
    debt += current.errorRate;
    if (debt < 1) return false;
    debt -= 1;
    return true;
  };
  return {
    settings: () => current,
    set,
    clear: () => set(NONE),
    inflict: async (_request, response, next) => {
      const busyMs = busyUntil - clock();
      if (busyMs > 0) {
        response.set("retry-after", String(Math.ceil(busyMs / 1_000)));
        throw new ProviderError(429, "busy", "the sandbox was told to be busy");
      }
      const { pauseMs, malformed } = current;
      if (pauseMs > 0 && !(await waitWithClient(response, pauseMs))) return;
      if (isUnlucky()) throw new ProviderError(500, "global_fault", "the sandbox was told to fail a share of all requests");
      if (malformed) {
        response.json = (body: unknown) => {
          const text = JSON.stringify(body);
          return response.type("application/json").send(text.slice(0, Math.ceil(text.length / 2)));
        };
      }
      next();
    },
  };
};
