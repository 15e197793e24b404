import { type executions } from "@nodeloom/proto";
import { placeOf } from "../../lifecycle/line/line";
import { executionNotFound } from "../../refusals";
import type { ExecutionView } from "../execution-record";
import { collectPage } from "./pages";
import { LIST_BATCH, type ExecutionStore } from "../store";
import { executionMessage, type Details } from "./view";

export type Reads = ReturnType<typeof createReads>;

/** Executions as their owners read them: the row, with what is kept beside it. */
export const createReads = ({
  store,
}: {
  store: Pick<ExecutionStore, "findOwned" | "callsOf" | "getText" | "current" | "standing" | "lines">;
}) => {
  const positionOf = async ({ holdId, userId, status }: ExecutionView): Promise<number | undefined> =>
    status === "queued" ? placeOf(await store.lines.find(userId), holdId) : undefined;

  async function* allStanding(rows: AsyncIterable<ExecutionView>): AsyncIterable<ExecutionView> {
    let batch: ExecutionView[] = [];
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < LIST_BATCH) continue;
      yield* store.standing(batch);
      batch = [];
    }
    yield* store.standing(batch);
  }

  const details = async (row: ExecutionView): Promise<Details> => {
    const [calls, inputsJson, position] = await Promise.all([
      store.callsOf(row._id),
      row.inputs ? store.getText(row.inputs) : null,
      positionOf(row),
    ]);
    return { calls, inputsJson: inputsJson ?? undefined, position };
  };

  return {
    details,

    /** @throws DomainError EXECUTION_NOT_FOUND, also for another user's execution, and for what is not decided yet. */
    get: async (executionId: string, userId: string): Promise<executions.Execution> => {
      const row = await store.findOwned(executionId, userId);
      if (!row) throw executionNotFound();
      const [told, about] = await Promise.all([store.current(row), details(row)]);
      return executionMessage(told, about);
    },

    page: (rows: AsyncIterable<ExecutionView>, size: number): Promise<executions.ListExecutionsResponse> =>
      collectPage(allStanding(rows), size),
  };
};
