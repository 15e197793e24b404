/** Sends runs to usage. Runs that end close together share a call. */
import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { isUnavailable, unavailable } from "@nodeloom/kernel";
import { createBatcher, withRequestContext, type BatchItem } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import type { Usage } from "../clients";
import { TIMING } from "../run/timing";

/** Maximum runs per call, and maximum runs that wait for the next call. */
const MAX_BATCH = 50;
const MAX_WAITING = 10_000;

/** How long a starting run waits for other runs to share its call. */
const GATHER_MS = 5;

interface Reporting<Request> {
  idOf: (request: Request) => string;
  one: (request: Request, deadlineMs: number) => Promise<unknown>;
  /** @returns ids of the executions that usage has recorded */
  many: (requests: Request[], options: { deadlineMs: number }) => Promise<{ executionIds: string[] }>;
  gatherMs?: number;
}

interface Report<Request> {
  request: Request;
  /** Sends this run alone, within its own request. */
  send: (deadlineMs: number) => Promise<unknown>;
}

/** Sends one run per call. Runs that arrive during a call share the next call. */
const createReporting = <Request>({ idOf, one, many, gatherMs }: Reporting<Request>): ((request: Request) => Promise<void>) => {
  type Item = BatchItem<Report<Request>, void>;

  const alone = ({ value: { send }, deadlineMs, resolve, reject }: Item): Promise<void> =>
    send(Math.max(1, deadlineMs - Date.now())).then(() => resolve(), reject);

  const together = async (batch: readonly Item[]): Promise<void> => {
    const requests = batch.map(({ value }) => value.request);
    const { executionIds } = await many(requests, { deadlineMs: TIMING.usageCall });
    const recorded = new Set(executionIds);
    const isRecorded = ({ value: { request } }: Item): boolean => recorded.has(idOf(request));
    for (const item of batch) if (isRecorded(item)) item.resolve();
    // Each run that is sent alone gets its own answer.
    await Promise.all(batch.filter((item) => !isRecorded(item)).map(alone));
  };

  const batcher = createBatcher<Report<Request>, void>({
    work: async (_key, batch) => {
      if (batch.length === 1) return alone(batch[0]!);
      try {
        // The shared call has its own deadline, so that no single request can end it.
        await withRequestContext({ requestId: randomUUID() }, () => together(batch));
      } catch (error) {
        if (isUnavailable(error)) for (const { reject } of batch) reject(error);
        // An invalid run must not make the other runs fail.
        else await Promise.all(batch.map(alone));
      }
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    gatherMs,
    overloaded: () => unavailable("too many runs are reported to usage"),
  });

  return (request) => {
    const send = AsyncResource.bind((leftMs: number) => one(request, leftMs));
    return batcher.submit("", { request, send }, Date.now() + TIMING.usageCall);
  };
};

export type UsageReports = ReturnType<typeof createUsageReports>;

export const createUsageReports = (usage: Pick<Usage, "startRun" | "startRuns" | "finishRun" | "finishRuns">) => ({
  started: createReporting<usageProto.RunStart>({
    idOf: ({ executionId }) => executionId,
    one: (run, deadlineMs) => usage.startRun({ run }, { deadlineMs }),
    many: (runs, options) => usage.startRuns({ runs }, options),
    gatherMs: GATHER_MS,
  }),
  finished: createReporting<usageProto.FinishRunRequest>({
    idOf: ({ run }) => run!.executionId,
    one: (request, deadlineMs) => usage.finishRun(request, { deadlineMs }),
    many: (runs, options) => usage.finishRuns({ runs }, options),
  }),
});
