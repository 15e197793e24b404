import { invalidRequest, isUnavailable, toCredits } from "@nodeloom/kernel";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { raw, type RawJson } from "../http/json";
import type { CallContext, Reply, Route } from "../edge/route";
import { credits, uuid, versionQuery } from "../http/schemas";
import { waitingFor } from "../routes/executions/decisions";
import { executionRoutes } from "../routes/executions/routes";
import { EXECUTION_STATUSES, executionView, isFinal } from "../routes/executions/view";
import { askQuote, run, runRoutes, type RunPart } from "../routes/runs/routes";
import { runFailure } from "../routes/runs/run";
import { callRoute } from "./calls";
import { linkToExecution, structured, withFiles } from "./contents";
import { follow } from "./follow";
import { routeNamed } from "./named";
import { asRouteCall } from "./tools/arguments";
import type { ToolCall } from "./tools/tool";

/** Runs by agents. If nothing limits a run's cost, it is quoted first. Then it is started as usual and awaited. */

/** Shorter than the minute after which clients stop waiting by default. */
const WAIT_SECONDS = 50;
const MAX_WAIT_SECONDS = 600;
const MS = 1_000;

export const waitSeconds = z
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .optional()
  .meta({ description: `Seconds to wait for the result. A run that takes longer continues. Default: ${WAIT_SECONDS}` });

type Kind = "workflow" | "model";
type Seconds = { waitSeconds?: number | undefined };

const withWait = (route: Route): Route => ({
  ...route,
  body: { ...route.body!, schema: (route.body!.schema as z.ZodObject).extend({ waitSeconds }) },
});

/** Routes of runs. As tools they return when the run ends. */
export const RUNS: Readonly<Record<Kind, Route>> = {
  workflow: withWait({ ...routeNamed(runRoutes, "runWorkflow"), query: z.strictObject({ version: versionQuery }) }),
  model: withWait({ ...routeNamed(runRoutes, "runModel"), query: z.strictObject({}) }),
};
/** As for a rerun, its inputs default to those of the earlier run. */
const RERUN: Route = {
  ...RUNS.workflow,
  body: { ...RUNS.workflow.body!, schema: (RUNS.workflow.body!.schema as z.ZodObject).partial({ inputs: true }) },
};
const cancelRoute = routeNamed(executionRoutes, "cancelExecution");

/** Output of a run tool. @param result schema of its result */
export const outcomeSchema = (result: z.ZodType = z.looseObject({})): z.ZodObject =>
  z.object({
    executionId: uuid,
    status: z.enum(EXECUTION_STATUSES).meta({ description: "`processing`: ask `get_execution` for the rest" }),
    result: result.optional(),
    cost: credits.optional(),
    ms: z.number().optional(),
    queued: z.boolean().optional(),
    position: z.number().optional(),
    waitingFor: z.array(waitingFor).optional(),
  });

/** Outcome of a run. @throws DomainError if the run failed */
const outcomeOf = async (call: ToolCall, execution: executions.Execution): Promise<CallToolResult> => {
  if (execution.status === "failed" || execution.status === "cancelled") throw runFailure(execution);
  const { executionId, status, queued, position, waitingFor: waits } = executionView(execution);
  const isOver = isFinal(execution);
  const outcome = isOver
    ? { result: raw(execution.resultJson, "{}"), cost: toCredits(execution.millicredits), ms: execution.durationMs }
    : {};
  const { gateway } = call.context;
  const report = { executionId, status, ...outcome, queued, position, waitingFor: waits };
  // If the result is too large, it is left out and linked.
  const answer = structured(report, () => linkToExecution(gateway, structured({ ...report, result: undefined }), execution.executionId));
  if (!isOver) return answer;
  return withFiles(call.context, answer, JSON.parse((outcome.result as RawJson).text) as Record<string, unknown>);
};

type RunContext = CallContext<"any", unknown, { version?: string | undefined }, { maxCredits?: number } & Seconds>;
type TargetCase = "workflowSlug" | "model";

/** Exact price of a run, which becomes its limit. @throws DomainError INVALID_REQUEST if the price isn't known before the run */
const exactPrice = async (context: RunContext, $case: TargetCase, value: string, part: RunPart): Promise<number> => {
  const { millicredits, maxMillicredits, mayCostLess } = await askQuote(context, $case, value, { ...context.query, ...part });
  if (maxMillicredits === millicredits && !mayCostLess) return toCredits(millicredits);
  const most = toCredits(maxMillicredits);
  const message = `is required, because the exact cost is known only after the run (about ${toCredits(millicredits)} credits, at most ${most}): set the most that it can cost`;
  throw invalidRequest([{ path: "maxCredits", message }]);
};

const callOff = ({ context }: ToolCall, executionId: string): Promise<unknown> =>
  callRoute(context, cancelRoute, { params: { id: executionId } }).catch((error: unknown) =>
    context.logger.info({ err: error, executionId }, "a run whose client has left goes on"),
  );

/** Starts a run, or joins the one that this call started before. */
const begin = async (call: ToolCall, context: RunContext, $case: TargetCase, value: string, part: RunPart): Promise<void> => {
  const { gateway, caller, executionId } = context;
  const maxCredits = context.body.maxCredits ?? (await exactPrice(context, $case, value, part));
  const { waitSeconds: _, ...body } = context.body;
  await run({ ...context, body: { ...body, maxCredits } }, $case, value, { ...part, respondAsync: true });
  gateway.ownIds.add(caller.user.id, executionId);
  if (await gateway.mcp.cancellations.isNoted(executionId)) await callOff(call, executionId);
};

/** Follows a run. If the protocol requires it, the run is cancelled when its client disconnects. */
const followed = async (call: ToolCall, executionId: string, waitMs: number): Promise<executions.Execution> => {
  const { signal, context, isCalledOffByLeaving, report } = call;
  const leave = (): void => {
    if (isCalledOffByLeaving && !context.gateway.stopping.aborted) void callOff(call, executionId);
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  try {
    return await follow(context, executionId, { waitMs, report, signal });
  } finally {
    signal.removeEventListener("abort", leave);
  }
};

/**
 * Runs a workflow or a model and waits.
 * @param args arguments without the ones that name the target
 * @param part parts of the run that aren't arguments
 * @throws DomainError if the run is rejected or fails
 */
export const runTool = async (
  call: ToolCall,
  kind: Kind,
  id: string,
  args: ReadonlyMap<string, string>,
  part: RunPart = {},
): Promise<CallToolResult> => {
  const route = part.rerun ? RERUN : RUNS[kind];
  const { executionId, fingerprint } = call;
  let waitMs = WAIT_SECONDS * MS;
  const handler = async (context: RunContext): Promise<Reply> => {
    waitMs = (context.body.waitSeconds ?? WAIT_SECONDS) * MS;
    await begin(call, context, kind === "workflow" ? "workflowSlug" : "model", id, part);
    return { status: 200 };
  };
  const params = kind === "workflow" ? { slug: id } : { internalName: id };
  const routeCall = { ...asRouteCall({ query: route.query, body: route.body }, args), params, executionId, fingerprint };
  await callRoute(call.context, { ...route, handler: handler as unknown as Route["handler"] }, routeCall);
  try {
    return await outcomeOf(call, await followed(call, executionId, waitMs));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // The run was accepted and continues.
    return structured({ executionId, status: "processing" });
  }
};
