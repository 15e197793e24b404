import type { Logger } from "../telemetry/logger";
import { doubling, retry } from "./retry";

/**
 * How long a starting process waits for a server, in milliseconds. After that it exits and its supervisor restarts it. If the process
 * exited immediately, restarts would use much CPU on a busy machine.
 */
export const STARTUP_PATIENCE_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [200, 2_000];

export interface ServerWait {
  server: string;
  /** Returns whether an error means that the server can't be reached. Any other error ends the wait. */
  isUnavailable: (error: unknown) => boolean;
  logger?: Logger | undefined;
  patienceMs?: number;
}

/**
 * Calls a server and repeats the call while the server is unavailable.
 * @throws the last attempt's error
 */
export const onceThere = <T>(
  { server, isUnavailable, logger, patienceMs = STARTUP_PATIENCE_MS }: ServerWait,
  ask: () => Promise<T>,
): Promise<T> => {
  const shouldRetry = (error: unknown): boolean => {
    if (!isUnavailable(error)) return false;
    logger?.warn({ server, reason: error instanceof Error ? error.message : String(error) }, "waiting for a server that is away");
    return true;
  };
  return retry(ask, { pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS), shouldRetry, until: Date.now() + patienceMs });
};
