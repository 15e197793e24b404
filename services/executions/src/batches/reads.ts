import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { fromCursor, pageOf } from "@nodeloom/platform";
import type { batches as proto } from "@nodeloom/proto";
import type { BatchRecord, BatchRow, ItemInput } from "../run/batch";
import type { Stores } from "../record/stores";
import { itemExecutionId } from "./item";
import { createOwned } from "./owned";
import { batchMessage, rowMessage } from "./view";

/** Maximum number of rows whose results are in memory at once. */
const ROWS_AT_ONCE = 25;
/** A page is one gRPC message, so it ends before the message becomes too large. */
const PAGE_BYTES = 8 * 1024 * 1024;
const ROW_CURSOR = /^\d{1,6}$/;

const fromRowCursor = (cursor: string): number => {
  if (cursor === "") return 0;
  if (ROW_CURSOR.test(cursor)) return Number(cursor);
  throw invalidRequest([{ path: "cursor", message: "doesn't belong to this list: send the nextCursor of its last page" }]);
};

const bytesOf = ({ inputsJson, settingsJson, resultJson }: proto.BatchRow): number =>
  inputsJson.length + settingsJson.length + resultJson.length;

export type BatchReads = ReturnType<typeof createBatchReads>;

export type WithDeliveries = (rows: readonly BatchRecord[]) => Promise<BatchRecord[]>;

export const createBatchReads = (
  { batches, rows: runs, payloads }: Pick<Stores, "batches" | "rows" | "payloads">,
  withDeliveries: WithDeliveries = async (rows) => [...rows],
) => {
  const owned = createOwned(batches);

  const withTexts = async (batch: BatchRecord, rows: readonly BatchRow[]): Promise<proto.BatchRow[]> => {
    const endedIds = rows.flatMap(({ index, status }) => (status === undefined ? [] : [itemExecutionId(batch._id, index)]));
    const results = new Map((endedIds.length === 0 ? [] : await runs.resultsOf(endedIds)).map((result) => [result._id, result]));
    return Promise.all(
      rows.map(async (row) => {
        const input = await payloads.getText(row.input);
        const { inputsJson = "", settingsJson = "" } = input === null ? {} : (JSON.parse(input) as ItemInput);
        const result = results.get(itemExecutionId(batch._id, row.index));
        const long = result?.resultHash === undefined ? null : await payloads.getText({ hash: result.resultHash });
        return rowMessage(batch, row, { inputsJson, settingsJson, resultJson: result?.resultJson ?? long ?? "" });
      }),
    );
  };

  /** Yields rows with inputs and results, starting at the index `from`. A few rows are loaded at a time. */
  async function* rowsOf(batch: BatchRecord, from = 0): AsyncGenerator<proto.BatchRow> {
    for (let next = from; next < batch.total;) {
      const rows = await batches.rowsFrom(batch._id, next, ROWS_AT_ONCE);
      if (rows.length === 0) return;
      yield* await withTexts(batch, rows);
      next = rows.at(-1)!.index + 1;
    }
  }

  return {
    get: async ({ batchId, userId }: proto.GetBatchRequest): Promise<proto.Batch> =>
      batchMessage((await withDeliveries([await owned(batchId, userId)]))[0]!),

    list: async ({ userId, limit, cursor }: proto.ListBatchesRequest): Promise<proto.ListBatchesResponse> => {
      const size = Math.min(limit || LIMITS.pageDefault, LIMITS.pageRows);
      const records = await batches.list(userId, size + 1, fromCursor(cursor));
      const { rows, nextCursor } = pageOf(records, size, ({ createdAt }) => createdAt);
      return { batches: (await withDeliveries(rows)).map(batchMessage), nextCursor };
    },

    /** Returns one page of rows: at least one, and fewer than requested if the rows are long. */
    rows: async ({ batchId, userId, limit, cursor }: proto.ListBatchRowsRequest): Promise<proto.ListBatchRowsResponse> => {
      const batch = await owned(batchId, userId);
      const size = Math.min(limit || LIMITS.pageDefault, LIMITS.pageRows);
      const page: proto.BatchRow[] = [];
      let bytes = 0;
      for await (const row of rowsOf(batch, fromRowCursor(cursor))) {
        bytes += bytesOf(row);
        if (page.length > 0 && (page.length === size || bytes > PAGE_BYTES)) return { rows: page, nextCursor: String(row.index) };
        page.push(row);
      }
      return { rows: page, nextCursor: "" };
    },

    results: async function* ({ batchId, userId }: proto.ReadBatchResultsRequest): AsyncGenerator<proto.ReadBatchResultsResponse> {
      for await (const row of rowsOf(await owned(batchId, userId))) yield { row };
    },
  };
};
