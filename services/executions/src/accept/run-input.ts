/** Builds the input of a run's workflow from its request and plan. */
import { DomainError, invalidRequest, holdIdOf, isBaseTier, leastRetention } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { PlannedCanary } from "../plan/canary";
import type { PlannedRun } from "../plan/planning";
import type { CanaryRun, RunInput } from "../run/types";
import type { Runner } from "../run/runner";

export const hasMembers = (metadata: Readonly<Record<string, string>>): boolean => Object.keys(metadata).length > 0;

const canaryRunOf = ({ isLimited, ...run }: PlannedCanary): CanaryRun => ({
  ...run,
  ...(isLimited && run.arm === "canary" && !run.isUnplanned ? { isReserved: true } : {}),
});

/**
 * @returns the workflow input that starts the run once its credits are held
 * @throws INVALID_REQUEST if the response would show the runner hidden values
 */
export const toRunInput = (
  request: executions.RunRequest,
  runner: Runner,
  planned: PlannedRun,
  metadata: Record<string, string>,
  attempt: number,
): RunInput => {
  const { executionId, maxMillicredits } = request;
  const { userId, source, keyId, webhookUrl, webhookEvents, webhookForm, webhookOwn, baseTier, concurrency } = runner;
  const { endpointEvents = [] } = runner;
  const { plan, workflowSlug, version, alias, modelIds, holds, reused, canary } = planned;
  if (plan.graphHidden && request.fullProvenance)
    throw invalidRequest([{ path: "provenance", message: "can't be full for a workflow that you don't own: it would reveal prompts" }]);
  if (!isBaseTier(baseTier)) throw new DomainError("invalid", "INVALID_REQUEST", "a run needs its runner's base tier");
  const retentionDays = leastRetention(planned.retentionDays, request.retentionDays);
  const isAsync = request.mode !== executions.RunMode.RUN_MODE_SYNC;
  return {
    ...{ executionId, userId, workflowSlug, source, baseTier, concurrency, plan, modelIds, holds, maxMillicredits, attempt },
    ...(version === undefined ? {} : { version }),
    ...(alias === undefined ? {} : { alias }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    mode: isAsync ? "async" : "sync",
    keyId: keyId || null,
    webhook: webhookUrl
      ? {
          ...{ url: webhookUrl, events: webhookEvents },
          ...(webhookForm ? { form: webhookForm } : {}),
          ...(webhookOwn ? { isOwn: true as const } : {}),
        }
      : null,
    ...(endpointEvents.length > 0 ? { endpointEvents } : {}),
    held: [],
    // With a retention of 0 days, prompts are deleted at the end of the run.
    ...(request.fullProvenance && retentionDays !== 0 ? { provenance: "full" as const } : {}),
    ...(reused ? { reuse: reused.reuse } : {}),
    ...(hasMembers(metadata) ? { metadata } : {}),
    ...(request.batch ? { batch: request.batch } : {}),
    ...(canary ? { canary: canaryRunOf(canary) } : {}),
    holdId: holdIdOf(executionId, attempt),
    receivedAt: Date.now(),
  };
};
