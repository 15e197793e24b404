import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { createBatcher, withRequestContext, type BatchItem } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import type { Usage } from "../clients";
import { TIMING } from "../contract/timing";

/** Runs of one call, and such as may wait for theirs. */
const MAX_BATCH = 50;
const MAX_WAITING = 10_000;

interface Ended {
  request: usageProto.FinishRunRequest;
  /** Tells of this run by itself, as a part of its own request. */
  tell: (deadlineMs: number) => Promise<usageProto.FinishRunResponse>;
}
type Item = BatchItem<Ended, usageProto.FinishRunResponse>;

const alone = ({ value: { tell }, deadlineMs, resolve, reject }: Item): Promise<void> =>
  tell(Math.max(1, deadlineMs - Date.now())).then(resolve, reject);

/** Tells usage of runs that are over: of one by a call, and by the next of all that end while that is under way. */
export const createFinishedRuns = (usage: Pick<Usage, "finishRun" | "finishRuns">): Pick<Usage, "finishRun"> => {
  const together = async (batch: readonly Item[]): Promise<void> => {
    const runs = batch.map(({ value }) => value.request);
    const { executionIds } = await usage.finishRuns({ runs }, { deadlineMs: TIMING.usageCall });
    const finished = new Set(executionIds);
    const isFinished = ({ value: { request } }: Item): boolean => finished.has(request.run!.executionId);
    for (const item of batch) if (isFinished(item)) item.resolve({});
    // Why not is said to each by itself.
    await Promise.all(batch.filter((item) => !isFinished(item)).map(alone));
  };

  const batcher = createBatcher<Ended, usageProto.FinishRunResponse>({
    work: async (_key, batch) => {
      if (batch.length === 1) return alone(batch[0]!);
      try {
        // None of their requests may end it: it has a deadline of its own.
        await withRequestContext({ requestId: randomUUID() }, () => together(batch));
      } catch (error) {
        if (error instanceof DomainError && error.kind === "unavailable") for (const { reject } of batch) reject(error);
        // A release of usage that does not know the call.
        else await Promise.all(batch.map(alone));
      }
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    overloaded: () => unavailable("usage hears of too many runs"),
    closed: () => unavailable("the process is stopping"),
  });

  return {
    finishRun: (request, { deadlineMs = TIMING.usageCall } = {}) => {
      const tell = AsyncResource.bind((leftMs: number) => usage.finishRun(request, { deadlineMs: leftMs }));
      return batcher.submit("", { request, tell }, Date.now() + deadlineMs);
    },
  };
};
