import type { Batch, BatchQuote, BatchRow, BatchWithRows, CreatedBatch, Operations, WorkflowBatchRequest } from "./api-types";
import { selectionOf, type Selection, type Target } from "./runs";
import { sleep } from "./sleep";
import type { RequestOptions, Transport } from "./transport";

export type BatchTarget = Extract<Target, { model: string }> | ({ workflow: string } & Selection);

/** One of `inputs`, `items` and `mediaId`, and the other members of the API's request. */
export type BatchOrder = WorkflowBatchRequest;

export interface WaitForBatchOptions extends Omit<RequestOptions, "idempotencyKey"> {
  /** Milliseconds between polls. */
  pollIntervalMs?: number;
  /** Called after every poll. */
  onPoll?: (batch: Batch) => void;
}

export interface Batches {
  /**
   * Creates and starts a batch: many runs of a workflow or model.
   * @throws NodeloomError with `details.issues` (each with its `index`) if an item is invalid; then nothing has started
   */
  create(target: BatchTarget, order: BatchOrder, options?: RequestOptions): Promise<CreatedBatch>;
  /** Validates and prices all items without running them. */
  quote(target: BatchTarget, order: BatchOrder, options?: RequestOptions): Promise<BatchQuote>;
  list(query?: Operations["listBatches"]["query"], options?: RequestOptions): Promise<Operations["listBatches"]["response"]>;
  /** The batch with its first rows, or those after a cursor. */
  get(batchId: string, query?: Operations["getBatch"]["query"], options?: RequestOptions): Promise<BatchWithRows>;
  /** Polls until a batch ends or pauses, within the rate limits. */
  wait(batchId: string, options?: WaitForBatchOptions): Promise<Batch>;
  /** All rows with their results, in order. */
  results(batchId: string, options?: RequestOptions): AsyncGenerator<BatchRow, void>;
  cancel(batchId: string, options?: RequestOptions): Promise<Batch>;
  /** Resumes a paused batch, optionally with a new limit. */
  resume(batchId: string, maxCredits?: number, options?: RequestOptions): Promise<Batch>;
  /** Creates a batch from the rows with this status. */
  rerun(batchId: string, status: "failed" | "cancelled" | "skipped", options?: RequestOptions): Promise<CreatedBatch>;
}

const POLL_INTERVAL_MS = 2_000;
const PAGE = 100;
const GOING: ReadonlySet<string> = new Set<Batch["status"]>(["running", "cancel_requested"]);

export const createBatches = (transport: Transport): Batches => {
  const get: Batches["get"] = async (id, query = {}, options = {}) =>
    (await transport.send("getBatch", { ...options, params: { id }, query })).body;

  return {
    create: async (target, body, options = {}) =>
      "workflow" in target
        ? (await transport.send("createWorkflowBatch", { ...options, params: { slug: target.workflow }, query: selectionOf(target), body }))
            .body
        : (await transport.send("createModelBatch", { ...options, params: { internalName: target.model }, body })).body,
    quote: async (target, body, options = {}) =>
      "workflow" in target
        ? (await transport.send("quoteWorkflowBatch", { ...options, params: { slug: target.workflow }, query: selectionOf(target), body }))
            .body
        : (await transport.send("quoteModelBatch", { ...options, params: { internalName: target.model }, body })).body,
    list: async (query = {}, options = {}) => (await transport.send("listBatches", { ...options, query })).body,
    get,
    wait: async (id, { pollIntervalMs = POLL_INTERVAL_MS, onPoll, ...options } = {}) => {
      for (;;) {
        const batch = await get(id, { limit: 1 }, options);
        onPoll?.(batch);
        if (!GOING.has(batch.status)) return batch;
        await sleep(pollIntervalMs, options.signal);
      }
    },
    results: async function* (id, options = {}) {
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: BatchWithRows = await get(id, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }, options);
        yield* page.rows;
        cursor = page.nextCursor;
      }
    },
    cancel: async (id, options = {}) => (await transport.send("cancelBatch", { ...options, params: { id } })).body,
    resume: async (id, maxCredits, options = {}) =>
      (await transport.send("resumeBatch", { ...options, params: { id }, body: maxCredits === undefined ? {} : { maxCredits } })).body,
    rerun: async (id, status, options = {}) => (await transport.send("rerunBatch", { ...options, params: { id }, body: { status } })).body,
  };
};
