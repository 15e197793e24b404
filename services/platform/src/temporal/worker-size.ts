import { totalmem } from "node:os";
import { z } from "zod";

/** Sizes a Temporal worker by the memory available to its process. */

const MB = 1_048_576;
/** Memory assumed if there is no limit, because other processes share the machine. */
const UNLIMITED_MB = 1_536;
/** A cached run takes half a megabyte, so the cache takes a 25th of the memory. */
const CACHED_PER_MB = 1 / 12.5;
/** Activities mostly wait for a provider's response or for the next poll. */
const ACTIVITIES_PER_MB = 2.6;
/** A process that follows more jobs polls more often. */
const POLLS_PER_MB = 150 / UNLIMITED_MB;
const CACHED_BETWEEN = [40, 2_000] as const;
const ACTIVITIES_BETWEEN = [500, 20_000] as const;
const POLLS_BETWEEN = [50, 1_500] as const;
const MOST = 100_000;

const count = () => z.coerce.number().int().min(1).max(MOST).optional();

export const workerVariables = {
  WORKER_CACHED_WORKFLOWS: count().describe(
    "runs that a worker keeps in memory, of half a megabyte each; unless given, by the memory limit: 123 for 1536 MB",
  ),
  WORKER_ACTIVITIES: count().describe("calls that a worker makes or follows at once; unless given, by the memory limit: 3994 for 1536 MB"),
  WORKER_POLLS: count().describe(
    "polls of providers' jobs a second, shared equally by users; unless given, by the memory limit: 150 for 1536 MB",
  ),
} as const;

/** @returns the container's limit in megabytes; undefined if there is none, or if it is above the machine's memory */
const memoryLimitMb = (): number | undefined => {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit / MB : undefined;
};

const bounded = (value: number, [least, most]: readonly [number, number]): number => Math.min(Math.max(Math.round(value), least), most);

/**
 * @param settings values of the variables
 * @param limitMb memory available to the process, in megabytes; by default the container's limit
 */
export const workerSize = (
  settings: { WORKER_CACHED_WORKFLOWS?: number | undefined; WORKER_ACTIVITIES?: number | undefined } = {},
  limitMb: number = memoryLimitMb() ?? UNLIMITED_MB,
) => ({
  maxCachedWorkflows: settings.WORKER_CACHED_WORKFLOWS ?? bounded(limitMb * CACHED_PER_MB, CACHED_BETWEEN),
  maxConcurrentActivityTaskExecutions: settings.WORKER_ACTIVITIES ?? bounded(limitMb * ACTIVITIES_PER_MB, ACTIVITIES_BETWEEN),
});

/** @returns polls of jobs per second; the parameters are those of `workerSize` */
export const pollsPerSecond = (
  settings: { WORKER_POLLS?: number | undefined } = {},
  limitMb: number = memoryLimitMb() ?? UNLIMITED_MB,
): number => settings.WORKER_POLLS ?? bounded(limitMb * POLLS_PER_MB, POLLS_BETWEEN);
