import type { Logger } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
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
  // Whoever waits for a run's end is told of no usage before: see `claimed`.
  unstarted: row.claimedBy === undefined || (row.mode === "sync" && (row.durationMs ?? 0) < TIMING.usageStart),
});

/** A receiver hears of a run after everything else. */
const isReadNext = (debt: Debt): boolean => debt !== "webhook";
/** For how long a row that owes something may have been ended a moment ago; what is owed then is the sweeper's. */
const JUST_ENDED_MS = 5_000;
/** Runs that are remembered as ended here. */
const ENDED_RUNS = 10_000;

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

  /** Whether a row's debts may stand for a while once they are paid: one that goes on would owe them still. */
  const mayWait = isFinal;

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

  /** What was done for runs that were ended here, and for their readers: their rows say what they owed until that is struck out. */
  const ended = new LRUCache<string, Promise<Debt[]>>({ max: ENDED_RUNS });

  /** Does what a caller looks for next. The rest, and striking all of it out, is done in the background. */
  const payNow = async (row: ExecutionView): Promise<void> => {
    const [next, rest] = [true, false].map((isNext) => (row.due ?? []).filter((debt) => isReadNext(debt) === isNext));
    const paying = settleAll(row, next!);
    if (isFinal(row)) ended.set(row._id, paying);
    const paid = await paying;
    const strikeAll = async (): Promise<void> => {
      const all = [...paid, ...(await settleAll(row, rest!))];
      if (all.length > 0) await store.strike(row, all, mayWait(row));
    };
    inBackground(row, strikeAll());
  };

  /** Runs whose usage row is not begun yet, because they may end before that is worth it. */
  const postponed = new Map<string, NodeJS.Timeout>();

  return {
    /** @returns whether everything was done */
    pay: (row: ExecutionView): Promise<boolean> => payAndStrike(row, false),
    /** Does it in the background. */
    payLater,
    payNow,
    /** Does what a reader of a run's end looks for, where the process that ended it may be about to. */
    payForReader: async (row: ExecutionView): Promise<void> => {
      const isRecent = isFinal(row) && Date.now() - (row.finishedAt?.getTime() ?? 0) < JUST_ENDED_MS;
      if (isRecent && row.due?.some(isReadNext)) await (ended.get(row._id) ?? payNow(row));
    },
    /**
     * Does what is owed since a run was claimed. Nobody has been told yet of a run whose caller waits for its end: its usage
     * row begins a little later, or with its end. It is struck out with that; the sweeper strikes out what long runs owed.
     */
    claimed: (row: ExecutionView): void => {
      const begin = (): void => {
        postponed.delete(row._id);
        inBackground(row, settleAll(row, row.due ?? []));
      };
      if (row.mode !== "sync") return begin();
      postponed.set(row._id, setTimeout(begin, TIMING.usageStart).unref());
    },
    /** A run is about to end: its usage row needs no beginning any more. */
    ending: (executionId: string): void => {
      clearTimeout(postponed.get(executionId));
      postponed.delete(executionId);
    },
  };
};
