/** Builds the input of a run's workflow and the request's part of its row. */
import { DomainError, invalidRequest, holdIdOf, isBaseTier, leastRetention, RUN_METADATA, type Issue } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { PlannedCanary } from "../plan/definitions";
import type { PlannedRun } from "../plan/planning";
import type { CanaryRun, RunInput } from "../run/types";
import type { Runner } from "../run/runner";
import type { KeepGraph } from "../plan/kept-graphs";
import type { Stores } from "../record/stores";
import { filesNamedIn } from "../plan/files";
import { metadataKeys, type RunRecordPart } from "../run/record";

const hasMembers = (metadata: Readonly<Record<string, string>>): boolean => Object.keys(metadata).length > 0;

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

/**
 * Merges the caller's metadata with the values that the key fixes for attribution.
 * @throws INVALID_REQUEST if the caller contradicts the key, or the merged metadata is too large
 */
export const withKeyMetadata = (
  runMetadata: Readonly<Record<string, string>>,
  runner: Pick<Runner, "keyMetadata"> | undefined,
): Record<string, string> => {
  // Rows written before keys had metadata lack `keyMetadata`.
  const fixed = Object.entries(runner?.keyMetadata ?? {});
  const all = new Map([...Object.entries(runMetadata), ...fixed]);
  const issues: Issue[] = fixed
    .filter(([name, value]) => Object.hasOwn(runMetadata, name) && runMetadata[name] !== value)
    .map(([name, value]) => ({
      path: `metadata.${name}`,
      message: `is fixed by the API key: leave it out or send ${JSON.stringify(value)}`,
    }));
  if (all.size > RUN_METADATA.entries)
    issues.push({ path: "metadata", message: `can have at most ${RUN_METADATA.entries} members, including those that the API key adds` });
  if (issues.length > 0) throw invalidRequest(issues);
  return Object.fromEntries(all);
};

export interface RecordPartOptions {
  stores: { payloads: Pick<Stores["payloads"], "putText"> };
  keepGraph: KeepGraph;
  /** Address prefix of the platform's own storage. */
  own: string;
}

/**
 * Selects the parts of a request that the run's row stores. Texts that belong to one run are erased with it. The graph is shared with other
 * runs of its workflow.
 */
export const createRecordPart =
  ({ stores: { payloads }, keepGraph, own }: RecordPartOptions) =>
  async (
    request: executions.RunRequest,
    { graph, reused, until, schemaJson, inputsJson }: PlannedRun,
    { executionId, userId, metadata = {} }: RunInput,
  ): Promise<RunRecordPart> => {
    const [inputs, keptGraph, schema] = await Promise.all([
      payloads.putText(inputsJson || "{}", executionId),
      graph ? keepGraph(graph.key, graph.savedGraph, userId) : undefined,
      schemaJson === undefined ? undefined : payloads.putText(schemaJson, executionId),
    ]);
    const uses = filesNamedIn([inputsJson, ...(graph ? [graph.savedGraph.nodesJson] : [])], own);
    return {
      requestToken: request.requestToken,
      inputs,
      ...(keptGraph ? { graph: keptGraph } : {}),
      ...(until === undefined ? {} : { until }),
      ...(schema ? { schema } : {}),
      ...(uses.length > 0 ? { uses } : {}),
      ...(reused && request.rerun ? { rerun: { of: request.rerun.executionId, sources: reused.reuse.sources } } : {}),
      ...(request.fingerprint === "" ? {} : { fingerprint: request.fingerprint }),
      ...(request.runner?.personId === undefined ? {} : { personId: request.runner.personId }),
      ...(hasMembers(metadata) ? { metadata: metadataKeys(metadata) } : {}),
    };
  };
