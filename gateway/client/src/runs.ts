import type { CancelResult, Decision, DecisionRequest, Execution, Quote, RunResult, RunWebhook, SubmitResult } from "./api-types";
import { NodeloomError } from "./errors";
import { sleep } from "./sleep";
import type { Answer, RequestOptions, Transport } from "./transport";

/**
 * A saved workflow by slug, or a model by internalName. `until` is a node id: only that node and its dependencies run or are priced.
 * `alias` or `version` selects a published version, such as `staging`; without them, `production` runs.
 */
export type Target = ({ workflow: string; until?: string | undefined } & Selection) | { model: string };

/** At most one of them is given. */
export interface Selection {
  alias?: string | undefined;
  version?: number | "draft" | undefined;
}
export type Inputs = Readonly<Record<string, unknown>>;

export interface RunOptions extends RequestOptions {
  /** The run is rejected if it could cost more. You can pass a quote's `estimatedCreditCost`; null, for free runs, sets no limit. */
  maxCredits?: number | null | undefined;
  /** Receives the messages of this run in place of the key's webhook. `GET /api/webhook-secret` has the secret that signs them. */
  webhook?: RunWebhook | undefined;
  /** Days for which the execution is kept after its end, if the workflow sets no fewer; with 0, only its result is kept, for 28 hours. */
  retentionDays?: number | undefined;
}

/** Result of a run without a declared type. */
export type Result = RunResult["result"];

export interface CompletedRun<R = Result> extends Omit<RunResult, "result"> {
  result: R;
  executionId: string;
}

export interface WaitOptions extends Omit<RequestOptions, "idempotencyKey"> {
  /** Milliseconds between polls. */
  pollIntervalMs?: number;
  /** Called after every poll. */
  onPoll?: (execution: Execution) => void;
}

export interface Runs {
  /**
   * Runs and waits for the result, however long it takes. If the queue is full, it first waits for a place. @typeParam R type of the
   * workflow's response output; it isn't checked
   * @throws NodeloomError if the run was rejected, failed or was cancelled
   */
  run<R = Result>(target: Target, inputs?: Inputs, options?: RunOptions): Promise<CompletedRun<R>>;
  /** Starts a run without waiting. Poll it, or use a webhook. */
  submit(target: Target, inputs?: Inputs, options?: RunOptions): Promise<SubmitResult>;
  /** Polls until an execution is completed, failed or cancelled, within the rate limits. */
  wait(executionId: string, options?: WaitOptions): Promise<Execution>;
  cancel(executionId: string, options?: RequestOptions): Promise<CancelResult["status"]>;
  /**
   * Decides an approval.
   * @param decision `value` replaces the reviewed value
   * @throws NodeloomError NOT_WAITING if it was decided before
   */
  decide(executionId: string, decision: DecisionRequest, options?: RequestOptions): Promise<Decision>;
  /** Validates and prices a run without running it. */
  quote(target: Target, inputs?: Inputs, options?: RequestOptions): Promise<Quote>;
}

const POLL_INTERVAL_MS = 2_000;
const FAILED = { status: 500, code: "EXECUTION_FAILED" };
const CANCELLED = { status: 409, code: "EXECUTION_CANCELLED" };
const FINAL: ReadonlySet<string> = new Set<Execution["status"]>(["completed", "failed", "cancelled"]);

const untilOf = (target: Target): { until?: string } => ("until" in target && target.until !== undefined ? { until: target.until } : {});

export const selectionOf = (target: object & Selection): { alias?: string; version?: string } => ({
  ...(target.alias === undefined ? {} : { alias: target.alias }),
  ...(target.version === undefined ? {} : { version: String(target.version) }),
});

/** Error of an execution without a result. */
export const failureOf = ({ executionId, status, error }: Execution): NodeloomError => {
  const failure = status === "cancelled" ? CANCELLED : FAILED;
  const { code = failure.code, message = `the run was ${status}`, ...details } = error ?? {};
  return new NodeloomError({ status: failure.status, code, message, details: { executionId, ...details } });
};

export const createRuns = (transport: Transport): Runs => {
  const start = (target: Target, inputs: Inputs, isAsync: boolean, options: RunOptions): Promise<Answer<RunResult | SubmitResult>> => {
    const { maxCredits, retentionDays, webhook, ...rest } = options;
    const query = isAsync ? { async: "true" as const } : {};
    const request = {
      ...rest,
      body: { inputs: { ...inputs }, maxCredits: maxCredits ?? undefined, retentionDays, webhook, ...untilOf(target) },
    };
    return "workflow" in target
      ? transport.send("runWorkflow", { ...request, params: { slug: target.workflow }, query: { ...query, ...selectionOf(target) } })
      : transport.send("runModel", { ...request, params: { internalName: target.model }, query });
  };

  const wait: Runs["wait"] = async (executionId, { pollIntervalMs = POLL_INTERVAL_MS, onPoll, ...options } = {}) => {
    for (;;) {
      const { body } = await transport.send("getExecution", { ...options, params: { id: executionId } });
      onPoll?.(body);
      if (FINAL.has(body.status)) return body;
      await sleep(pollIntervalMs, options.signal);
    }
  };

  return {
    run: async <R>(target: Target, inputs: Inputs = {}, options: RunOptions = {}): Promise<CompletedRun<R>> => {
      const { headers, body } = await start(target, inputs, false, options);
      if (!("_async" in body)) return { ...body, result: body.result as R, executionId: headers.get("x-execution-id") ?? "" };
      // It takes longer than a request can wait; the same run continues.
      const execution = await wait(body.executionId, { signal: options.signal });
      if (execution.status !== "completed") throw failureOf(execution);
      const { executionId, result = {}, creditsCost, durationMs } = execution;
      return { success: true, result: result as R, cost: creditsCost, ms: durationMs, executionId };
    },
    submit: async (target, inputs = {}, options = {}) => (await start(target, inputs, true, options)).body as SubmitResult,
    wait,
    cancel: async (executionId, options = {}) =>
      (await transport.send("cancelExecution", { ...options, params: { id: executionId } })).body.status,
    decide: async (executionId, decision, options = {}) =>
      (await transport.send("decideExecution", { ...options, params: { id: executionId }, body: decision })).body,
    quote: async (target, inputs = {}, options = {}) => {
      const request = { ...options, body: { inputs: { ...inputs }, ...untilOf(target) } };
      const answer =
        "workflow" in target
          ? transport.send("quoteWorkflow", { ...request, params: { slug: target.workflow }, query: selectionOf(target) })
          : transport.send("quoteModel", { ...request, params: { internalName: target.model } });
      return (await answer).body;
    },
  };
};
