import { isRefusal } from "@nodeloom/kernel";
import type { Billing } from "../clients";
import type { Admission } from "../contract/activity-types";
import type { HeldItem, Refusal, RunEnd, RunInput, RunOutcome } from "../contract/run-types";
import { TIMING } from "../contract/timing";
import type { ExecutionStore } from "../record/store";
import { initialNodes, skipPending } from "../temporal/workflows/graph-run";
import type { Execution } from "./row/execution";
import { newRecord } from "./row/run-record";
import { runEvent } from "./row/progress";
import { heldItem } from "./money/holds";
import { refusalOf } from "../refusals";
import type { Debts } from "./debts/debts";
import { CANCEL_REQUESTED } from "./states";

/**
 * What workflows need that were started before rows came first: they hold their credits and record themselves. Each is
 * accepted: its caller may have been told so. They are gone a day after the upgrade, and this file may go then.
 */
export interface EarlierRunsOptions {
  billing: Pick<Billing, "hold">;
  store: Pick<ExecutionStore, "insert" | "find">;
  execution: Pick<Execution, "insertFinal">;
  debts: Pick<Debts, "payLater">;
}

export const createEarlierRuns = ({ billing, store, execution, debts }: EarlierRunsOptions) => {
  const insertRunning = async (input: RunInput, isCancelled: boolean): Promise<void> => {
    const { owes: _, ...record } = newRecord(input, initialNodes(input.plan));
    const events = [...record.events, ...(isCancelled ? [runEvent(CANCEL_REQUESTED)] : [])];
    await store.insert({ ...record, due: [], events, status: isCancelled ? "cancel_requested" : "processing" });
  };

  const insertEnded = async (input: RunInput, end: RunEnd): Promise<void> => {
    const row = await execution.insertFinal(input, end, {}, ["usage"]);
    if (row) debts.payLater(row);
  };

  const hold = async ({ holdId, userId, holds, maxMillicredits }: RunInput, signal: AbortSignal): Promise<HeldItem[]> => {
    const { items } = await billing.hold(
      { executionId: holdId, userId, items: holds, maxActive: 0, maxMillicredits },
      { deadlineMs: TIMING.holdCall, signal },
    );
    return items.map(heldItem);
  };

  return {
    admit: async (input: RunInput, cancelled: AbortSignal): Promise<Admission> => {
      const known = await store.find(input.executionId);
      if (known?.status === "failed" && known.error) {
        const refused: Refusal = { kind: "failed", reason: known.error.code, message: known.error.message, metadata: {} };
        return { refused, recorded: true };
      }
      try {
        const held = await hold(input, cancelled);
        await insertRunning(input, cancelled.aborted);
        return { held };
      } catch (error) {
        if (cancelled.aborted) return { calledOff: true };
        if (!isRefusal(error)) throw error;
        const refused = refusalOf(error);
        const failure = { code: refused.reason, message: refused.message };
        const nodes = skipPending(initialNodes(input.plan));
        await insertEnded(input, { status: "failed", result: null, error: failure, requestId: null, nodes, completed: [] });
        return { refused, recorded: true };
      }
    },
    recordCancelled: (input: RunInput): Promise<void> => insertRunning(input, true),
    runInstant: async (input: RunInput, end: RunEnd): Promise<RunOutcome> => {
      await insertEnded(input, end);
      return { status: end.status, millicredits: 0 };
    },
  };
};

export type EarlierRuns = ReturnType<typeof createEarlierRuns>;
