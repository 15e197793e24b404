import type { Logger } from "../telemetry/logger";
import { doubling, retry } from "./retry";

/**
 * How long a process that starts waits for a server that does not answer, in milliseconds; then it ends, for its supervisor to start it
 * again. It is not ready meanwhile, but alive: one that ended at once would take from a busy machine what its start costs, over and over.
 */
export const STARTUP_PATIENCE_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [200, 2_000];

export interface ServerWait {
  /** Its name, for the log. */
  server: string;
  /** Whether an error means that the server can't be reached now; with any other the wait ends. */
  isAway: (error: unknown) => boolean;
  logger?: Logger | undefined;
  patienceMs?: number;
}

/**
 * What a starting process asks of a server, asked again while that is away.
 * @throws the last attempt's error
 */
export const onceThere = <T>(
  { server, isAway, logger, patienceMs = STARTUP_PATIENCE_MS }: ServerWait,
  ask: () => Promise<T>,
): Promise<T> => {
  const shouldRetry = (error: unknown): boolean => {
    if (!isAway(error)) return false;
    logger?.warn({ server, reason: error instanceof Error ? error.message : String(error) }, "waiting for a server that is away");
    return true;
  };
  return retry(ask, { pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS), shouldRetry, until: Date.now() + patienceMs });
};
