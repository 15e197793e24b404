import type { Logger } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import type { Usage } from "../clients";
import { TIMING } from "../contract/timing";
import { metadataOf, type ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { DeliveryStarter, RunStarter } from "../temporal/client";
import type { Holds } from "./holds";
import type { Queue } from "./line/queue";
import { holdIdOf, isFinal, type Debt } from "./states";

export interface DebtsOptions {
  store: Pick<ExecutionStore, "strike">;
  holds: Pick<Holds, "void">;
  queue: Pick<Queue, "leave">;
  usage: Pick<Usage, "startRun" | "finishRun">;
  deliveries: Pick<DeliveryStarter, "startFirst">;
  starter: Pick<RunStarter, "cancel">;
  logger: Logger;
}

/** What usage is told of a run. */
export type UsageRun = Pick<ExecutionView, "_id" | "userId" | "workflowSlug" | "modelIds" | "source" | "createdAt" | "metadata">;
export const runStart = (row: UsageRun): usageProto.RunStart => ({
  executionId: row._id,
  userId: row.userId,
  workflowSlug: row.workflowSlug ?? undefined,
  modelIds: row.modelIds,
  source: row.source,
  startedAt: row.createdAt,
  metadata: metadataOf(row.metadata),
});

const finishedRun = (row: ExecutionView): usageProto.FinishRunRequest => ({
  run: runStart(row),
  status: row.status,
  costMicroUsd: row.costs?.costMicroUsd ?? 0,
  userCostMicroUsd: row.costs?.userCostMicroUsd ?? 0,
  millicredits: row.millicredits,
  modelCredits: row.modelCredits ?? [],
  durationMs: row.durationMs ?? 0,
  errorCode: row.error?.code,
  requestId: row.requestId ?? undefined,
  // A row that no workflow has claimed was final from the start.
  unstarted: row.claimedBy === undefined,
});

export type Debts = ReturnType<typeof createDebts>;

/** Does what the last transition of a row left to be done, and strikes it out. Each of these may be done twice. */
export const createDebts = ({ store, holds, queue, usage, deliveries, starter, logger }: DebtsOptions) => {
  const payOne = async (row: ExecutionView, debt: Debt): Promise<void> => {
    const { _id: executionId, userId, keyId, webhook } = row;
    const [what, attempt] = debt.split(":");
    switch (what) {
      case "void":
        return holds.void(holdIdOf(executionId, Number(attempt)), userId);
      case "place":
        return queue.leave(userId, [holdIdOf(executionId, Number(attempt))]);
      case "usage":
        return void (await (isFinal(row) ? usage.finishRun(finishedRun(row)) : usage.startRun({ run: runStart(row) })));
      case "webhook":
        return webhook && keyId !== null ? deliveries.startFirst(executionId, keyId) : undefined;
      case "cancel":
        return starter.cancel(executionId);
      default:
        return undefined;
    }
  };

  /** @returns what was done */
  const settleAll = async (row: ExecutionView, due: readonly Debt[]): Promise<Debt[]> => {
    const outcomes = await Promise.allSettled(due.map((debt) => payOne(row, debt)));
    const paid = due.filter((_, index) => outcomes[index]!.status === "fulfilled");
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") continue;
      const reason = outcome.reason instanceof Error ? outcome.reason.message : String(outcome.reason);
      logger.warn({ executionId: row._id, debt: due[index], reason }, "a run still owes something");
    }
    return paid;
  };

  /** Whether a row's next transition is the same before its debts are struck out: one that is refused or cancelled would owe them on. */
  const mayWait = (row: ExecutionView): boolean => isFinal(row) || row.status === "processing";

  const payAndStrike = async (row: ExecutionView, isInBackground: boolean): Promise<boolean> => {
    const due = row.due ?? [];
    const paid = await settleAll(row, due);
    if (paid.length > 0) await store.strike(row, paid, isInBackground && mayWait(row));
    return paid.length === due.length;
  };

  /** What fails, or is lost with this process, the sweeper does. */
  const inBackground = (row: ExecutionView, work: Promise<unknown>): void => {
    work.catch((error: Error) => logger.warn({ executionId: row._id, reason: error.message }, "a run's debts were not struck out"));
  };
  const payLater = (row: ExecutionView): void => inBackground(row, payAndStrike(row, true));

  /** Runs whose usage row is not begun yet, because they may end before that is worth it. */
  const postponed = new Map<string, NodeJS.Timeout>();

  return {
    /** @returns whether everything was done */
    pay: (row: ExecutionView): Promise<boolean> => payAndStrike(row, false),
    /** Does it in the background. */
    payLater,
    /** Does it, and strikes it out in the background: for what a caller reads next. */
    payNow: async (row: ExecutionView): Promise<void> => {
      const paid = await settleAll(row, row.due ?? []);
      if (paid.length > 0) inBackground(row, store.strike(row, paid, mayWait(row)));
    },
    /**
     * Does what is owed since a run was claimed. Nobody has been told yet of a run whose caller waits for its end: its usage
     * row begins a little later, or with its end.
     */
    claimed: (row: ExecutionView): void => {
      if (row.mode !== "sync") return payLater(row);
      const begin = (): void => {
        postponed.delete(row._id);
        payLater(row);
      };
      postponed.set(row._id, setTimeout(begin, TIMING.usageStart).unref());
    },
    /** A run is about to end: its usage row needs no beginning any more. */
    ending: (executionId: string): void => {
      clearTimeout(postponed.get(executionId));
      postponed.delete(executionId);
    },
  };
};
