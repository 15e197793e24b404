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

/** Runs for the APIs of fal and Replicate: begun, read and cancelled like all others. */

const { RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

export type RunContext = CallContext<"any", unknown, unknown, unknown>;

export interface Wanted {
  target: FacadeTarget;
  inputs: Readonly<Record<string, unknown>>;
  /** How long the end is waited for. */
  waitMs: number;
  /** The run's own. */
  webhook?: FacadeWebhook | undefined;
}

/** Errors of a run that isn't accepted. */
export const RUN_ERRORS = [...NAMED_START_ERRORS, "VERSION_NOT_FOUND"] as const;

/** What all routes have in common that start a run. */
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

const requestOf = async (context: RunContext, { target, inputs, waitMs, webhook }: Wanted): Promise<executions.RunRequest> =>
  executions.RunRequest.fromPartial({
    executionId: context.executionId,
    target: target.target,
    runner: { ...toRunner(context.caller, target.kind), ...(webhook ? await runnerWith(context.gateway, context.caller, webhook) : {}) },
    inputsJson: JSON.stringify(inputs),
    // Only asynchronous runs have webhooks: one with a webhook begins as such, and is then waited for.
    mode: waitMs > 0 && !webhook ? RUN_MODE_SYNC : RUN_MODE_RESPOND_ASYNC,
    waitMs,
    fingerprint: context.fingerprint,
    requestToken: randomUUID(),
    isNew: context.fingerprint === "",
  });

/** Starts a run. @returns it as it is when it is over, or the wait is. @throws DomainError of a refusal */
export const beginRun = async (context: RunContext, wanted: Wanted): Promise<executions.Execution> => {
  const { services, stopping } = context.gateway;
  const { execution } = await startRun(services.executions, await requestOf(context, wanted), stopping);
  if (!execution) throw unavailable("executions answered without an execution");
  return wanted.webhook && wanted.waitMs > 0 ? waitForRun(context, execution, wanted.waitMs) : execution;
};

/** Waits until a run of the caller's is over, or for a while. */
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

/** Asks for the end of a run of the caller's. @throws EXECUTION_NOT_FOUND */
export const cancelRun = async ({ gateway, caller }: RunContext, executionId: string): Promise<string> =>
  (await gateway.services.executions.cancelExecution({ executionId, userId: caller.user.id })).status;
