import type { Logger } from "@nodeloom/platform";
import { TIMING } from "../contract/timing";
import { ProviderError } from "../providers";
import { isAway } from "./failures";

/** Failures in a row, over a while, after which a provider is left alone: a burst of requests that make it fail is no outage. */
export const FAILURES_TO_OPEN = 10;

/**
 * Leaves a provider alone that is away: after failures in a row for a pause, then until one call has succeeded. Only what
 * a provider does counts: neither refusals of a request, nor calls that were given up here.
 */
export const createBreaker = (name: string, logger: Logger) => {
  const pauses = TIMING.breakerPauses;
  let failures = 0;
  let failingSince = 0;
  /** How often in a row it was left alone; 0 while it is called. */
  let pausesTaken = 0;
  let pausedUntil = 0;
  let isProbed = false;

  const isOpen = (): boolean => pausesTaken > 0;
  /** @throws ProviderError of the kind "unavailable" while the provider is left alone */
  const check = (): void => {
    const waitMs = isProbed ? TIMING.breakerProbe : pausedUntil - Date.now();
    if (!isOpen() || waitMs <= 0) return;
    throw new ProviderError("unavailable", `provider ${name} is not available at the moment`, undefined, undefined, waitMs);
  };

  const open = (error: unknown): void => {
    const pauseMs = pauses[Math.min(pausesTaken, pauses.length - 1)]!;
    pausesTaken += 1;
    pausedUntil = Date.now() + pauseMs;
    const reason = error instanceof Error ? error.message : undefined;
    logger.warn({ provider: name, reason, pauseMs }, "provider is away: calls are held back");
  };

  const answered = (isProbe: boolean): void => {
    failures = 0;
    if (!isProbe) return;
    pausesTaken = 0;
    logger.info({ provider: name }, "provider is back");
  };

  const failed = (error: unknown, isProbe: boolean): void => {
    // A probe that was given up has shown nothing.
    if (isProbe) return open(error);
    if (isOpen() || !isAway(error)) return;
    if (failures === 0) failingSince = Date.now();
    failures += 1;
    if (failures >= FAILURES_TO_OPEN && Date.now() - failingSince >= TIMING.breakerOutage) open(error);
  };

  return {
    isOpen,
    check,
    /** Makes a call. @throws what `check` throws, or what the call throws */
    run: async <T>(call: () => Promise<T>): Promise<T> => {
      check();
      const isProbe = isOpen();
      isProbed = isProbe;
      try {
        const value = await call();
        answered(isProbe);
        return value;
      } catch (error) {
        if (error instanceof ProviderError && !isAway(error)) answered(isProbe);
        else failed(error, isProbe);
        throw error;
      } finally {
        if (isProbe) isProbed = false;
      }
    },
  };
};
