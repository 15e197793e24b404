import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { isUnavailable, unavailable } from "@nodeloom/kernel";
import { createBatcher, withRequestContext, type BatchItem } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import type { Usage } from "../clients";
import { TIMING } from "../run/timing";

/** Runs of one call, and such as may wait for theirs. */
const MAX_BATCH = 50;
const MAX_WAITING = 10_000;

/** How long a run that begins waits for others whose time comes in the same moment. */
const GATHER_MS = 5;

/** What usage is told, and how. */
interface Telling<Request> {
  idOf: (request: Request) => string;
  one: (request: Request, deadlineMs: number) => Promise<unknown>;
  /** @returns the executions that it was told of */
  many: (requests: Request[], options: { deadlineMs: number }) => Promise<{ executionIds: string[] }>;
  gatherMs?: number;
}

interface Said<Request> {
  request: Request;
  /** Tells of this run by itself, as a part of its own request. */
  tell: (deadlineMs: number) => Promise<unknown>;
}

/** Tells usage of runs: of one by a call, and by the next of all that come while that is under way. */
const createTelling = <Request>({ idOf, one, many, gatherMs }: Telling<Request>): ((request: Request) => Promise<void>) => {
  type Item = BatchItem<Said<Request>, void>;

  const alone = ({ value: { tell }, deadlineMs, resolve, reject }: Item): Promise<void> =>
    tell(Math.max(1, deadlineMs - Date.now())).then(() => resolve(), reject);

  const together = async (batch: readonly Item[]): Promise<void> => {
    const requests = batch.map(({ value }) => value.request);
    const { executionIds } = await many(requests, { deadlineMs: TIMING.usageCall });
    const told = new Set(executionIds);
    const isTold = ({ value: { request } }: Item): boolean => told.has(idOf(request));
    for (const item of batch) if (isTold(item)) item.resolve();
    // Why not is said to each by itself.
    await Promise.all(batch.filter((item) => !isTold(item)).map(alone));
  };

  const batcher = createBatcher<Said<Request>, void>({
    work: async (_key, batch) => {
      if (batch.length === 1) return alone(batch[0]!);
      try {
        // None of their requests may end it: it has a deadline of its own.
        await withRequestContext({ requestId: randomUUID() }, () => together(batch));
      } catch (error) {
        if (isUnavailable(error)) for (const { reject } of batch) reject(error);
        // A release of usage that does not know the call.
        else await Promise.all(batch.map(alone));
      }
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    gatherMs,
    overloaded: () => unavailable("usage hears of too many runs"),
  });

  return (request) => {
    const tell = AsyncResource.bind((leftMs: number) => one(request, leftMs));
    return batcher.submit("", { request, tell }, Date.now() + TIMING.usageCall);
  };
};

export type ToldRuns = ReturnType<typeof createToldRuns>;

/** Tells usage of runs that begin, and of runs that are over. */
export const createToldRuns = (usage: Pick<Usage, "startRun" | "startRuns" | "finishRun" | "finishRuns">) => ({
  begun: createTelling<usageProto.RunStart>({
    idOf: ({ executionId }) => executionId,
    one: (run, deadlineMs) => usage.startRun({ run }, { deadlineMs }),
    many: (runs, options) => usage.startRuns({ runs }, options),
    gatherMs: GATHER_MS,
  }),
  over: createTelling<usageProto.FinishRunRequest>({
    idOf: ({ run }) => run!.executionId,
    one: (request, deadlineMs) => usage.finishRun(request, { deadlineMs }),
    many: (runs, options) => usage.finishRuns({ runs }, options),
  }),
});
