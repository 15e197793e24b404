/** debts/: what transitions leave to be done, and how usage is told of it. */
import { holdIdOf } from "@nodeloom/kernel";
import { withTimeout, type Logger } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";
import { metadataOf, type ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import type { Holds } from "./holds";
import type { Queue } from "./queue";
import { isFinal, type Debt } from "../run/states";
import type { ToldRuns } from "./usage-reports";

export interface DebtsOptions {
  stores: Pick<Stores, "rows">;
  holds: Pick<Holds, "void">;
  queue: Pick<Queue, "leave">;
  toldRuns: ToldRuns;
  /** Starts the delivery of a run's webhook, once. */
  deliveries: { startFirst(executionId: string, keyId: string): Promise<void> };
  /** Tells the workflow of a run that it is cancelled. */
  starter: { cancel(executionId: string): Promise<void> };
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

/** How long a run is under way at most, in milliseconds, before its usage row begins: longer where its caller waits for its end, and was told nothing. */
const usageBeginsAfter = ({ mode }: Pick<ExecutionView, "mode">): number => (mode === "sync" ? TIMING.usageStart : TIMING.usageGathered);

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
  // Most likely: its usage row begins later than that, see `claimed`.
  unstarted: row.claimedBy === undefined || (row.durationMs ?? 0) < usageBeginsAfter(row),
});

/** What a caller looks for next: its usage, and whether its credits and its place are free. */
const isReadNext = (debt: Debt): boolean => /^(usage|void|place)\b/.test(debt);
/** A reader pays only for ends as young as this: what is owed for longer is the sweeper's, and its service is away. */
const READER_PAYS_MS = 5_000;
/** Runs that are remembered as ended here. */
const ENDED_RUNS = 10_000;

/** Longest wait of a stop for what is being done in the background. */
const DRAIN_MS = 3_000;

/** What is read of a run whose end is told. */
export type ToldRow = Pick<ExecutionView, "_id" | "status" | "due" | "finishedAt">;

export type Debts = ReturnType<typeof createDebts>;

/** Does what the last transition of a row left to be done, and strikes it out. Each of these may be done twice. */
export const createDebts = ({ stores, holds, queue, toldRuns, deliveries, starter, logger }: DebtsOptions) => {
  const payOne = async (row: ExecutionView, debt: Debt): Promise<void> => {
    const { _id: executionId, userId, keyId, webhook } = row;
    const [what, attempt] = debt.split(":");
    switch (what) {
      case "void":
        return holds.void(holdIdOf(executionId, Number(attempt)), userId);
      case "place":
        return queue.leave(userId, [holdIdOf(executionId, Number(attempt))]);
      case "usage":
        return isFinal(row) ? toldRuns.over(finishedRun(row)) : toldRuns.begun(runStart(row));
      case "webhook":
        return webhook && keyId !== null ? deliveries.startFirst(executionId, keyId) : undefined;
      case "cancel":
        // Its workflow is over, or about to be.
        return isFinal(row) ? undefined : starter.cancel(executionId);
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
    if (paid.length > 0) await stores.rows.clear(row, paid, isInBackground && mayWait(row));
    return paid.length === due.length;
  };

  /** What is being done in the background. */
  const background = new Set<Promise<void>>();
  /** What fails, or is lost with this process, the sweeper does. */
  const inBackground = (row: ExecutionView, work: Promise<unknown>): void => {
    const done: Promise<void> = work
      .then(
        () => undefined,
        (error: Error) => logger.warn({ executionId: row._id, reason: error.message }, "a run's debts were not struck out"),
      )
      .finally(() => void background.delete(done));
    background.add(done);
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
      if (all.length > 0) await stores.rows.clear(row, all, mayWait(row));
    };
    inBackground(row, strikeAll());
  };

  /** How the usage rows of runs begin that may end before that is worth it. */
  const postponed = new Map<string, { begin: () => void; timer: NodeJS.Timeout }>();

  return {
    /** @returns whether everything was done */
    pay: (row: ExecutionView): Promise<boolean> => payAndStrike(row, false),
    /** Does it in the background. */
    payLater,
    payNow,
    /** Does what a reader of a run's end looks for next, where the process that wrote the end may be about to. It strikes out nothing. */
    payForReader: async (told: ToldRow): Promise<void> => {
      const isRecent = isFinal(told) && Date.now() - (told.finishedAt?.getTime() ?? 0) < READER_PAYS_MS;
      if (!isRecent || !told.due?.some(isReadNext)) return;
      const paying = ended.get(told._id);
      if (paying) return void (await paying);
      const row = await stores.rows.find(told._id);
      if (row) await settleAll(row, (row.due ?? []).filter(isReadNext));
    },
    /** Does what is owed since a run was claimed: of all that were claimed together at once, and not of those that are over by then. */
    claimed: (row: ExecutionView): void => {
      const begin = (): void => {
        postponed.delete(row._id);
        payLater(row);
      };
      // A claim is repeated where its answer was lost.
      clearTimeout(postponed.get(row._id)?.timer);
      const afterMs = usageBeginsAfter(row) - (Date.now() % TIMING.usageGathered);
      postponed.set(row._id, { begin, timer: setTimeout(begin, afterMs).unref() });
    },
    /** Waits for what is being done in the background, for as long as a stop has time for that. */
    drain: async (): Promise<void> => {
      for (const { begin, timer } of postponed.values()) {
        clearTimeout(timer);
        begin();
      }
      await withTimeout(Promise.all(background), DRAIN_MS, () => undefined);
    },
    /** A run is about to end: its usage row needs no beginning any more. */
    ending: (executionId: string): void => {
      clearTimeout(postponed.get(executionId)?.timer);
      postponed.delete(executionId);
    },
  };
};
