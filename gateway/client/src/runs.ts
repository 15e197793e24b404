import type {
  CancelResult,
  Decision,
  DecisionRequest,
  Execution,
  Quote,
  RerunQuote,
  RerunRequest,
  RunResult,
  RunWebhook,
  SubmitResult,
} from "./api-types";
import { NodeloomError } from "./errors";
import type { Events } from "./events";
import { sleep } from "./sleep";
import type { Answer, RequestOptions, Transport } from "./transport";

/**
 * A saved workflow by slug, or a model by internalName. `until` is a node id: only that node and its dependencies run or are priced.
 * `alias` or `version` selects a published version, such as `staging`; without them, `production` runs.
 */
export type Target = ({ workflow: string; until?: string | undefined } & Selection) | { model: string };

/** Set at most one of them. */
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
  /**
   * Days for which the execution is kept after its end, if the workflow doesn't set fewer. With 0, only the result is kept, for 28 hours.
   */
  retentionDays?: number | undefined;
  /** Your own metadata for the run, shown on the execution, its webhooks and its usage row. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** `full` stores prompts and settings in the files that the run creates. */
  provenance?: "full" | undefined;
  /** The header `Prefer`: `no-queue` rejects the run if the queue is full, `wait=<seconds>` shortens the wait of one request. */
  prefer?: string | undefined;
}

/** A rerun's own members: `inputs`, `nodes`, `reuse`, `until`, `alias`, `version`. */
export type Rerun = Omit<RerunRequest, "mode" | "maxCredits" | "metadata" | "provenance" | "retentionDays" | "webhook">;

export interface StreamOptions extends RunOptions {
  /** The node whose text is streamed; by default the first node that writes text. */
  nodeId?: string | undefined;
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
  /** Starts a run of any workflow or model without waiting. Poll the execution, follow its events, or use a webhook. */
  submit(target: Target, inputs?: Inputs, options?: RunOptions): Promise<SubmitResult>;
  /**
   * Runs a text model, or a workflow with one, and yields its text as it is written. Returns the completed run.
   * @throws NodeloomError if the run was rejected, failed or was cancelled
   */
  stream(target: Target, inputs?: Inputs, options?: StreamOptions): AsyncGenerator<string, CompletedRun, undefined>;
  /**
   * Runs an execution again and waits for the result. Completed calls are reused for free; `nodes` are called again.
   * @throws NodeloomError if the run was rejected, failed or was cancelled
   */
  rerun<R = Result>(executionId: string, rerun?: Rerun, options?: RunOptions): Promise<CompletedRun<R>>;
  /** Prices a rerun and lists the results that it reuses. */
  quoteRerun(executionId: string, rerun?: Rerun, options?: RequestOptions): Promise<RerunQuote>;
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

const joined = (...preferences: (string | undefined)[]): string => preferences.filter((one) => one !== undefined).join(", ");

const preferring = ({ headers, prefer }: RunOptions): Readonly<Record<string, string>> | undefined => {
  const preference = joined(prefer, headers?.prefer);
  return preference === "" ? headers : { ...headers, prefer: preference };
};

/** A request's options and the members of its body that runs share. */
const partsOf = (options: RunOptions) => {
  const { maxCredits, metadata, provenance, retentionDays, webhook, prefer: _prefer, headers: _headers, ...rest } = options;
  const body = { maxCredits: maxCredits ?? undefined, metadata, provenance, retentionDays, webhook };
  return { rest: { ...rest, headers: preferring(options) }, body };
};

const completedOf = <R>({ executionId, result = {}, creditsCost, durationMs }: Execution): CompletedRun<R> => ({
  ...{ success: true, result: result as R, cost: creditsCost, ms: durationMs, executionId },
});

export interface Delta {
  nodeId: string;
  item?: number;
  text: string;
  reset?: boolean;
}

/**
 * Follows the text of one node.
 * @returns the new part; undefined for other nodes, or if the text restarted with different words
 */
export const textFollower = (nodeId: string | undefined) => {
  let [node, writtenText, isOther] = [nodeId, "", false];
  const next = (text: string): string | undefined => {
    isOther ||= !text.startsWith(writtenText);
    if (isOther || text.length === writtenText.length) return undefined;
    const piece = text.slice(writtenText.length);
    writtenText = text;
    return piece;
  };
  return {
    piece: ({ nodeId: from, item = 0, text, reset }: Delta): string | undefined => {
      node ??= from;
      return from === node && item === 0 ? next(reset ? text : writtenText + text) : undefined;
    },
    /** The rest of the result's text that wasn't streamed. */
    rest: (text: unknown): string | undefined => (typeof text === "string" ? next(text) : undefined),
  };
};

export const createRuns = (transport: Transport, events: Events): Runs => {
  const start = (target: Target, inputs: Inputs, options: RunOptions, isAsync = false): Promise<Answer<RunResult | SubmitResult>> => {
    const { rest, body } = partsOf(options);
    const request = { ...rest, body: { inputs: { ...inputs }, ...body, ...untilOf(target) } };
    const query = isAsync ? { async: "true" as const } : {};
    return "workflow" in target
      ? transport.send("runWorkflow", { ...request, params: { slug: target.workflow }, query: { ...query, ...selectionOf(target) } })
      : transport.send("runModel", { ...request, params: { internalName: target.model }, query });
  };

  /** `?async=true` reports a provider's rejection at once. It rejects models that can't be polled, such as those that write text. */
  const submit: Runs["submit"] = async (target, inputs = {}, options = {}) => {
    const answer = await start(target, inputs, options, true).catch((error: unknown) => {
      if (!(error instanceof NodeloomError) || error.code !== "ASYNC_NOT_SUPPORTED") throw error;
      return start(target, inputs, { ...options, prefer: joined(options.prefer, "respond-async") });
    });
    return answer.body as SubmitResult;
  };

  const wait: Runs["wait"] = async (executionId, { pollIntervalMs = POLL_INTERVAL_MS, onPoll, ...options } = {}) => {
    for (;;) {
      const { body } = await transport.send("getExecution", { ...options, params: { id: executionId } });
      onPoll?.(body);
      if (FINAL.has(body.status)) return body;
      await sleep(pollIntervalMs, options.signal);
    }
  };

  /** @throws NodeloomError if the run didn't complete */
  const endedRun = async <R>(executionId: string, options: Pick<RunOptions, "signal">): Promise<CompletedRun<R>> => {
    const execution = await wait(executionId, options);
    if (execution.status !== "completed") throw failureOf(execution);
    return completedOf(execution);
  };

  const answered = async <R>({ headers, body }: Answer<RunResult | SubmitResult>, options: RunOptions): Promise<CompletedRun<R>> => {
    if (!("_async" in body)) return { ...body, result: body.result as R, executionId: headers.get("x-execution-id") ?? "" };
    // The run takes longer than one request can wait, and continues.
    return endedRun(body.executionId, { signal: options.signal });
  };

  return {
    run: async <R>(target: Target, inputs: Inputs = {}, options: RunOptions = {}): Promise<CompletedRun<R>> =>
      answered(await start(target, inputs, options), options),
    submit,
    stream: async function* stream(target, inputs = {}, { nodeId, ...options } = {}) {
      const { executionId } = await submit(target, inputs, options);
      const follower = textFollower(nodeId);
      for await (const event of events(executionId, { signal: options.signal })) {
        const piece = event.type === "node.delta" ? follower.piece(event.data as unknown as Delta) : undefined;
        if (piece !== undefined) yield piece;
      }
      const run = await endedRun<Result>(executionId, { signal: options.signal });
      const rest = nodeId === undefined ? follower.rest(run.result.text) : undefined;
      if (rest !== undefined) yield rest;
      return run;
    },
    rerun: async <R>(executionId: string, rerun: Rerun = {}, options: RunOptions = {}): Promise<CompletedRun<R>> => {
      const { rest, body } = partsOf(options);
      const request = { ...rest, params: { id: executionId }, body: { ...rerun, ...body } };
      return answered(await transport.send("rerunExecution", request), options);
    },
    quoteRerun: async (executionId, rerun = {}, options = {}) =>
      (await transport.send("quoteRerun", { ...options, params: { id: executionId }, body: { ...rerun } })).body,
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
