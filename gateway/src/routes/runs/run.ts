import { setTimeout as delay } from "node:timers/promises";
import { covers, DomainError, REASONS, toCredits, unavailable, type Reason } from "@nodeloom/kernel";
import { isUnanswered, linkSignals } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import type { Caller } from "../../auth/caller";
import type { Services } from "../../clients";
import { raw } from "../../http/json";
import {
  REACHED_AFTER_MS,
  REFUSED_AGAIN_MS,
  RUN_CALL_MARGIN_MS,
  SYNC_WAIT_MS,
  UNKNOWN_AGAIN_MS,
  UNREACHABLE_AFTER_MS,
} from "../../http/limits";
import type { Reply } from "../../http/route";

const MS = 1_000;
const FIRST_BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 1_000;
const WAIT_PREFERENCE = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i;
const WEBHOOK_CAPABILITY = "webhook:receive";

/** How long a synchronous run is waited for: `Prefer: wait=n` (seconds) lowers the limit. */
export const syncWaitMs = (prefer: string | string[] | undefined): number => {
  const seconds = WAIT_PREFERENCE.exec(Array.isArray(prefer) ? prefer.join(",") : (prefer ?? ""))?.[1];
  return seconds === undefined ? SYNC_WAIT_MS : Math.min(SYNC_WAIT_MS, Number(seconds) * MS);
};

/** Who runs, for the executions service. */
export const toRunner = (caller: Caller, target: "workflow" | "model"): executions.Runner => {
  const { user, key } = caller;
  const webhook = key && covers(caller.capabilities, WEBHOOK_CAPABILITY) ? key.webhook : null;
  return {
    userId: user.id,
    role: user.role,
    tier: user.tier,
    baseTier: user.plan.base,
    markupPermille: user.plan.markupPermille,
    concurrency: user.plan.concurrency,
    keyId: key?.id ?? "",
    source: key === null ? "canvas" : target === "model" ? "api-slim" : "api-workflow",
    webhookUrl: webhook?.url ?? "",
    webhookEvents: webhook?.events ?? [],
  };
};

const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.reason === "SERVICE_UNAVAILABLE";

type RunService = Pick<Services["executions"], "run">;

/** One call, which ends when this process stops. */
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

/**
 * Starts a run, or joins the one with the same id, and waits as the request says. A service that is lost meanwhile is
 * asked again, because the run outlives it; one that cannot be reached from the start is given up after a few seconds.
 * After a call that was lost nobody knows whether there is a run, and that is insisted on, whatever is answered in between.
 * @returns undefined when this process stops before the run has ended
 */
export const startRun = async (
  service: RunService,
  request: executions.RunRequest,
  stopping: AbortSignal,
): Promise<executions.Execution | undefined> => {
  const startedAtMs = Date.now();
  let wasReached = false;
  let mayRun = false;
  for (let backOffMs = FIRST_BACK_OFF_MS; ; backOffMs = Math.min(backOffMs * 2, MAX_BACK_OFF_MS)) {
    const attemptedAtMs = Date.now();
    const waitMs = Math.max(0, startedAtMs + request.waitMs - attemptedAtMs);
    try {
      // Each attempt has its whole margin: one that is cut short would leave open whether there is a run.
      return (await call(service, { ...request, waitMs }, waitMs + RUN_CALL_MARGIN_MS, stopping)).execution;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const nowMs = Date.now();
      const reached = nowMs - attemptedAtMs >= REACHED_AFTER_MS;
      if (stopping.aborted && reached) return undefined;
      wasReached ||= reached;
      mayRun ||= reached && isUnanswered(error);
      const againMs = mayRun ? UNKNOWN_AGAIN_MS : REFUSED_AGAIN_MS;
      const giveUpAtMs = startedAtMs + (wasReached ? request.waitMs + againMs : UNREACHABLE_AFTER_MS);
      if (stopping.aborted || nowMs + backOffMs >= giveUpAtMs) {
        throw unavailable("runs are not available; the same request may be sent again");
      }
      await delay(backOffMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
};

const isReason = (code: string): code is Reason => (REASONS as readonly string[]).includes(code);

const failure = (execution: executions.Execution, error: executions.ExecutionError | undefined): DomainError => {
  const reason = error && isReason(error.code) ? error.code : "EXECUTION_FAILED";
  return new DomainError("failed", reason, error?.message || "the run failed", {
    executionId: execution.executionId,
    ...(error?.nodeId === undefined ? {} : { nodeId: error.nodeId }),
    ...(error?.providerStatus === undefined ? {} : { providerStatus: error.providerStatus }),
    ...(error?.providerBody === undefined ? {} : { providerBody: error.providerBody }),
  });
};

const submitted = (executionId: string, requestId: string | undefined, webhook: { configured: boolean; url: string }): Reply => ({
  status: 202,
  body: {
    _async: true,
    executionId,
    requestId: requestId ?? null,
    status: "processing",
    webhookDelivery: webhook.configured ? { configured: true, url: webhook.url } : { configured: false },
    pollUrl: `/api/executions/${executionId}`,
  },
});

const completed = (execution: executions.Execution, receivedAtMs: number): Reply => ({
  status: 200,
  body: {
    success: true,
    result: raw(execution.resultJson, "{}"),
    cost: toCredits(execution.millicredits),
    ms: Date.now() - receivedAtMs,
  },
});

export interface RunOutcome {
  request: executions.RunRequest;
  execution: executions.Execution | undefined;
  isAsync: boolean;
  receivedAtMs: number;
}

/** What a client is told about a run: its result, that it goes on, or why it failed. */
export const runReply = ({ request, execution, isAsync, receivedAtMs }: RunOutcome): Reply => {
  const url = (isAsync && request.runner?.webhookUrl) || "";
  const webhook = execution?.webhookDelivery ?? { configured: url !== "", url };
  const goesOn = (): Reply => submitted(request.executionId, execution?.requestId, webhook);
  if (!execution) return goesOn();
  if (isAsync) {
    if (execution.status === "failed" && execution.error?.code === "PROVIDER_SUBMIT_FAILED") throw failure(execution, execution.error);
    return goesOn();
  }
  switch (execution.status) {
    case "completed":
      return completed(execution, receivedAtMs);
    case "failed":
      throw failure(execution, execution.error);
    case "cancelled":
      throw new DomainError("failed", "EXECUTION_FAILED", "the run was cancelled", { executionId: execution.executionId });
    default:
      return goesOn();
  }
};
