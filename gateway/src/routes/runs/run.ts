import { setTimeout as delay } from "node:timers/promises";
import { DomainError, isReason, isUnavailable, toCredits, unavailable } from "@nodeloom/kernel";
import { isUnanswered, linkSignals, runnerOf } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { Caller } from "../../auth/caller";
import type { Services } from "../../clients/services";
import { raw } from "../../http/json";
import {
  ESTABLISH_MS,
  REACHED_AFTER_MS,
  REFUSED_AGAIN_MS,
  RUN_CALL_MARGIN_MS,
  SYNC_WAIT_MS,
  UNKNOWN_AGAIN_MS,
  UNREACHABLE_AFTER_MS,
} from "../../http/limits";
import type { Preferences } from "../../http/prefer";
import type { Reply } from "../../edge/route";
import type { NodeWarning } from "../../http/schemas";

const MS = 1_000;
const FIRST_BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 1_000;

/** How long a synchronous run is awaited: `Prefer: wait=n` (seconds) lowers the limit. */
export const syncWaitMs = ({ wait }: Preferences): number => (wait === undefined ? SYNC_WAIT_MS : Math.min(SYNC_WAIT_MS, wait * MS));

export const toRunner = (caller: Caller, target: "workflow" | "model"): executions.Runner => {
  const { user, person, organization, key, visitor, capabilities } = caller;
  const isCanvas = key === null && visitor === undefined;
  const source = isCanvas ? "canvas" : target === "model" ? "api-slim" : "api-workflow";
  const runner = runnerOf({ user, plan: user.plan, personId: organization ? person.id : user.id, source, key, capabilities });
  const { batches: maxBatches, batchRows: maxBatchRows } = user.plan.caps;
  return { ...runner, maxBatches, maxBatchRows, keyMetadata: { ...runner.keyMetadata, ...visitor?.metadata } };
};

const UNKNOWN = "unknown";
/** True if executions itself doesn't know the state of the run. */
const isUnknown = (error: unknown): boolean => error instanceof DomainError && error.metadata.outcome === UNKNOWN;

type RunService = Pick<Services["executions"], "run">;

/** Calls executions until this process stops. */
const call = async (
  service: RunService,
  request: executions.RunRequest,
  deadlineMs: number,
  stopping: AbortSignal,
): Promise<executions.RunResponse> => {
  const { signal, unlink } = linkSignals(stopping);
  try {
    return await service.run(request, { deadlineMs, signal, reconnectMs: 0 });
  } finally {
    unlink();
  }
};

/** 503 for a run that may exist: its id can be polled. */
const unknownOutcome = ({ executionId }: executions.RunRequest): DomainError =>
  new DomainError("unavailable", "SERVICE_UNAVAILABLE", "the state of the run is unknown. It may be running: read its execution", {
    retryAfter: 1,
    executionId,
    outcome: UNKNOWN,
  });

/** Error members that name an unavailable dependency of the run. */
const NEEDED = ["model", "operation", "moderation"] as const;
/** A model, a program or moderation is downloading or unavailable, so another attempt within the wait wouldn't help. */
const isNotReady = (error: unknown): boolean => error instanceof DomainError && NEEDED.some((name) => error.metadata[name] !== undefined);

const longer = (backOffMs: number): number => Math.min(backOffMs * 2, MAX_BACK_OFF_MS);

/**
 * Determines the state of a run when the process stops, without waiting for the run's end. Retries as long as the stop allows, because
 * executions can be restarting at the same time.
 */
const establish = async (service: RunService, request: executions.RunRequest, mightRun: boolean): Promise<executions.RunResponse> => {
  const untilMs = Date.now() + ESTABLISH_MS;
  let mayRun = mightRun;
  for (let backOffMs = FIRST_BACK_OFF_MS; ; backOffMs = longer(backOffMs)) {
    try {
      const deadlineMs = untilMs - Date.now();
      return await service.run({ ...request, waitMs: 0, isNew: false }, { deadlineMs, reconnectMs: 0 });
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      mayRun ||= isUnanswered(error) || isUnknown(error);
      if (Date.now() + backOffMs >= untilMs) throw mayRun ? unknownOutcome(request) : error;
      await delay(backOffMs);
    }
  }
};

/**
 * Starts a run, or joins the one with the same id, and waits as requested. If a service fails meanwhile, it is called again, because the
 * run continues; if it is unreachable from the start, the retries end after a few seconds. An error from executions means that nothing
 * runs. After a lost call, the run's state is unknown, so executions is called again whatever the next responses are.
 */
export const startRun = async (
  service: RunService,
  request: executions.RunRequest,
  stopping: AbortSignal,
): Promise<executions.RunResponse> => {
  const startedAtMs = Date.now();
  let wasReached = false;
  let mayRun = false;
  let isNew = request.isNew;
  let attemptedAtMs = startedAtMs;
  for (let backOffMs = FIRST_BACK_OFF_MS; ; backOffMs = longer(backOffMs)) {
    const waitMs = Math.max(0, startedAtMs + request.waitMs - attemptedAtMs);
    try {
      // Each attempt has its full margin: a shorter one could leave the run's state unknown.
      return await call(service, { ...request, waitMs, isNew }, waitMs + RUN_CALL_MARGIN_MS, stopping);
    } catch (error) {
      if (!isUnavailable(error) || (isNotReady(error) && !mayRun)) throw error;
      isNew = false;
      const nowMs = Date.now();
      const reached = nowMs - attemptedAtMs >= REACHED_AFTER_MS;
      wasReached ||= reached;
      // A call that this stop aborts continues in executions.
      mayRun ||= ((reached || stopping.aborted) && isUnanswered(error)) || isUnknown(error);
      if (stopping.aborted) return establish(service, request, mayRun);
      const againMs = mayRun ? UNKNOWN_AGAIN_MS : REFUSED_AGAIN_MS;
      const giveUpAtMs = startedAtMs + (wasReached ? request.waitMs + againMs : UNREACHABLE_AFTER_MS);
      if (nowMs + backOffMs >= giveUpAtMs) {
        throw mayRun ? unknownOutcome(request) : unavailable("runs are unavailable: send the same request again");
      }
      await delay(backOffMs, undefined, { signal: stopping }).catch(() => undefined);
      attemptedAtMs = Date.now();
    }
  }
};

/** Error of an accepted run without a result. */
export const runFailure = (execution: executions.Execution): DomainError => {
  const { error } = execution;
  if (execution.status === "cancelled")
    return new DomainError("conflict", "EXECUTION_CANCELLED", "the run was cancelled", { executionId: execution.executionId });
  const reason = error && isReason(error.code) ? error.code : "EXECUTION_FAILED";
  return new DomainError("failed", reason, error?.message || "the run failed", {
    executionId: execution.executionId,
    ...(error?.nodeId === undefined ? {} : { nodeId: error.nodeId }),
    ...(error?.item === undefined ? {} : { item: error.item }),
    ...(error?.providerStatus === undefined ? {} : { providerStatus: error.providerStatus }),
    ...(error?.providerBody === undefined ? {} : { providerBody: error.providerBody }),
  });
};

const warningsOf = ({ nodes }: executions.Execution): { warnings?: NodeWarning[] } => {
  const warnings = nodes.flatMap(({ id: nodeId, warnings: messages }) => messages.map((message) => ({ nodeId, message })));
  return warnings.length > 0 ? { warnings } : {};
};

const submitted = (executionId: string, execution: executions.Execution, webhook: { configured: boolean; url: string }): Reply => ({
  status: 202,
  body: {
    _async: true,
    executionId,
    requestId: execution.requestId ?? null,
    status: "processing",
    webhookDelivery: webhook.configured ? { configured: true, url: webhook.url } : { configured: false },
    pollUrl: `/api/executions/${executionId}`,
    ...warningsOf(execution),
  },
});

const completed = (execution: executions.Execution): Reply => ({
  status: 200,
  body: {
    success: true,
    result: raw(execution.resultJson, "{}"),
    cost: toCredits(execution.millicredits),
    ms: execution.durationMs,
    ...warningsOf(execution),
  },
});

export interface RunOutcome {
  request: executions.RunRequest;
  response: executions.RunResponse;
}

const { RUN_MODE_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

/** True if the reply to an asynchronous submit is the provider's rejection: if the rejection arrived within the wait, and in replays. */
const isAnsweredFailure = ({ mode }: executions.RunRequest, { execution, replayed, answeredFailure }: executions.RunResponse): boolean =>
  execution?.error?.code === "PROVIDER_SUBMIT_FAILED" && mode === RUN_MODE_ASYNC && (!replayed || answeredFailure);

/** Reply about a run: its result, its progress, or its failure. */
export const runReply = ({ request, response }: RunOutcome): Reply => {
  const { execution, answeredAccepted } = response;
  if (!execution) throw unknownOutcome(request);
  const url = (request.mode !== RUN_MODE_SYNC && request.runner?.webhookUrl) || "";
  const webhook = execution.webhookDelivery ?? { configured: url !== "", url };
  const goesOn = (): Reply => submitted(request.executionId, execution, webhook);
  if (request.mode !== RUN_MODE_SYNC) {
    if (isAnsweredFailure(request, response)) throw runFailure(execution);
    return goesOn();
  }
  if (answeredAccepted) return goesOn();
  switch (execution.status) {
    case "completed":
      return completed(execution);
    case "failed":
    case "cancelled":
      throw runFailure(execution);
    default:
      return goesOn();
  }
};
