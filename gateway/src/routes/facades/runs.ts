import { randomUUID } from "node:crypto";
import { unavailable } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { CallContext, RouteDefinition } from "../../edge/route";
import { ownExecution } from "../executions/own";
import { isFinal } from "../executions/view";
import { startRun, toRunner } from "../runs/run";
import { NAMED_START_ERRORS } from "../runs/schemas";
import type { FacadeTarget } from "./target";
import { runnerWith } from "../runs/webhook";
import type { FacadeWebhook } from "./webhook";

/** Starts, reads and cancels runs for the APIs of fal and Replicate, as for all other runs. */

const { RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

export type RunContext = CallContext<"any", unknown, unknown, unknown>;

export interface FacadeRun {
  target: FacadeTarget;
  inputs: Readonly<Record<string, unknown>>;
  /** Maximum wait for the end of the run. */
  waitMs: number;
  /** Webhook of this run only. */
  webhook?: FacadeWebhook | undefined;
}

/** Errors of a run that isn't accepted. */
export const RUN_ERRORS = [...NAMED_START_ERRORS, "VERSION_NOT_FOUND"] as const;

/** Settings shared by all routes that start a run. */
export const running = {
  method: "POST",
  auth: "any",
  role: "runner",
  limit: "user",
  approval: true,
  startsRun: true,
  idempotent: "rebuild",
} as const satisfies Partial<RouteDefinition<"any">>;

export const reading = {
  method: "GET",
  auth: "any",
  role: "viewer",
  capability: "execution:read",
  limit: "user+id",
} as const satisfies Partial<RouteDefinition<"any">>;

export const cancelling = { auth: "any", role: "runner", capability: "execution:cancel", limit: "user+id" } as const satisfies Partial<
  RouteDefinition<"any">
>;

const requestOf = async (context: RunContext, { target, inputs, waitMs, webhook }: FacadeRun): Promise<executions.RunRequest> =>
  executions.RunRequest.fromPartial({
    executionId: context.executionId,
    target: target.target,
    runner: { ...toRunner(context.caller, target.kind), ...(webhook ? await runnerWith(context.gateway, context.caller, webhook) : {}) },
    inputsJson: JSON.stringify(inputs),
    // Only asynchronous runs have webhooks, so a run with a webhook starts as one and is then awaited.
    mode: waitMs > 0 && !webhook ? RUN_MODE_SYNC : RUN_MODE_RESPOND_ASYNC,
    waitMs,
    fingerprint: context.fingerprint,
    requestToken: randomUUID(),
    isNew: context.fingerprint === "",
  });

/**
 * Starts a run.
 * @returns the run when it ends, or after the wait
 * @throws DomainError if the run is rejected
 */
export const beginRun = async (context: RunContext, runRequest: FacadeRun): Promise<executions.Execution> => {
  const { services, stopping } = context.gateway;
  const { execution } = await startRun(services.executions, await requestOf(context, runRequest), stopping);
  if (!execution) throw unavailable("executions answered without an execution");
  return runRequest.webhook && runRequest.waitMs > 0 ? waitForRun(context, execution, runRequest.waitMs) : execution;
};

/** Waits for the end of a caller's run, at most `waitMs`. */
export const waitForRun = async (context: RunContext, run: executions.Execution, waitMs: number): Promise<executions.Execution> => {
  if (isFinal(run)) return run;
  const { services, stopping } = context.gateway;
  const { executionId } = run;
  const joining = executions.RunRequest.fromPartial({
    ...{ executionId, waitMs, mode: RUN_MODE_SYNC, requestToken: randomUUID() },
    runner: toRunner(context.caller, run.workflowSlug === undefined ? "model" : "workflow"),
  });
  await startRun(services.executions, joining, stopping);
  return ownExecution(context, executionId);
};

/** Cancels a run of the caller. @throws EXECUTION_NOT_FOUND */
export const cancelRun = async ({ gateway, caller }: RunContext, executionId: string): Promise<string> =>
  (await gateway.services.executions.cancelExecution({ executionId, userId: caller.user.id })).status;
