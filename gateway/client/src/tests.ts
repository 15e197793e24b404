import type { BatchQuote, Operations, RunTestsRequest, StartedTests, TestRun, TestRunWithResults } from "./api-types";
import { sleep } from "./sleep";
import type { RequestOptions, Transport } from "./transport";

export interface WaitForTestsOptions extends Omit<RequestOptions, "idempotencyKey"> {
  /** Milliseconds between polls. */
  pollIntervalMs?: number;
  /** Called after every poll. */
  onPoll?: (run: TestRun) => void;
}

export interface Tests {
  /**
   * Runs the tests of a workflow on its draft, or on `version` or `alias` if set. `against` compares with another version, `settings` tries
   * other settings of nodes, and `recentRuns` takes the inputs of earlier runs instead of the tests.
   */
  run(slug: string, order?: RunTestsRequest, options?: RequestOptions): Promise<StartedTests>;
  /** Price of `run` with the same order. It has no calls that earlier runs made, and both sides with `against`. */
  quote(slug: string, order?: RunTestsRequest, options?: RequestOptions): Promise<BatchQuote>;
  /** Newest first; `nextCursor` continues the list. */
  list(
    slug: string,
    query?: Operations["listTestRuns"]["query"],
    options?: RequestOptions,
  ): Promise<Operations["listTestRuns"]["response"]>;
  get(slug: string, batchId: string, options?: RequestOptions): Promise<TestRunWithResults>;
  /** A run as JUnit XML. */
  junit(slug: string, batchId: string, options?: RequestOptions): Promise<string>;
  /** Polls until a run ends or pauses, within the rate limits. */
  wait(slug: string, batchId: string, options?: WaitForTestsOptions): Promise<TestRunWithResults>;
}

const POLL_INTERVAL_MS = 2_000;

export const createTests = (transport: Transport): Tests => {
  const get: Tests["get"] = async (slug, id, options = {}) =>
    (await transport.send("getTestRun", { ...options, params: { slug, id } })).body as TestRunWithResults;

  return {
    run: async (slug, body = {}, options = {}) => (await transport.send("runTests", { ...options, params: { slug }, body })).body,
    quote: async (slug, body = {}, options = {}) => (await transport.send("quoteTests", { ...options, params: { slug }, body })).body,
    list: async (slug, query = {}, options = {}) => (await transport.send("listTestRuns", { ...options, params: { slug }, query })).body,
    get,
    junit: async (slug, id, options = {}) =>
      (await transport.sendText("getTestRun", { ...options, params: { slug, id }, query: { format: "junit" } })).body,
    wait: async (slug, id, { pollIntervalMs = POLL_INTERVAL_MS, onPoll, ...options } = {}) => {
      for (;;) {
        const run = await get(slug, id, options);
        onPoll?.(run);
        if (run.status !== "running") return run;
        await sleep(pollIntervalMs, options.signal);
      }
    },
  };
};
