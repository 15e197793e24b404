import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { CallContext, RouteDefinition } from "../../edge/route";
import { runFailure, startRun, toRunner } from "../runs/run";
import { END_ERRORS, NAMED_START_ERRORS } from "../runs/schemas";
import type { OpenAiTarget } from "./target";

/** Runs for OpenAI's routes, awaited until they end. */

/** Default timeout of OpenAI's libraries. */
const WAIT_MS = 600_000;

const { RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

type Json = Record<string, unknown>;
export type RunContext = CallContext<"any", unknown, unknown, unknown>;

export interface OpenAiRun {
  target: OpenAiTarget;
  inputs: Record<string, unknown>;
  /** JSON Schema for the model's text. */
  schema?: object | undefined;
  /** The caller's identifier of the end user. */
  user?: string | undefined;
}

/** Settings shared by routes that run the target in `model`. */
export const running = {
  method: "POST",
  tag: "OpenAI",
  auth: "any",
  role: "runner",
  limit: "user",
  approval: true,
  protocol: "openai",
  startsRun: true,
} as const satisfies Partial<RouteDefinition<"any">>;

export const RUN_ERRORS = [...NAMED_START_ERRORS, ...END_ERRORS] as const;
export const FORM_ERRORS = [...RUN_ERRORS, "PAYLOAD_TOO_LARGE", "MEDIA_QUOTA_EXCEEDED"] as const;

/** The member `inputs` of a request. */
export const moreInputs = z
  .record(z.string(), z.unknown())
  .optional()
  .meta({ description: "More inputs of the model or workflow, by name" });

const requestOf = (context: RunContext, { target, inputs, schema, user }: OpenAiRun, mode: executions.RunMode): executions.RunRequest =>
  executions.RunRequest.fromPartial({
    executionId: context.executionId,
    target: { target: target.target, alias: target.alias, schemaJson: schema === undefined ? "" : JSON.stringify(schema) },
    // The response reports the end of the run, so no webhook repeats it.
    runner: { ...toRunner(context.caller, target.kind), webhookUrl: "" },
    inputsJson: JSON.stringify(inputs),
    mode,
    waitMs: mode === RUN_MODE_SYNC ? WAIT_MS : 0,
    fingerprint: context.fingerprint,
    requestToken: randomUUID(),
    isNew: context.fingerprint === "",
    metadata: user === undefined ? {} : { user },
  });

/** Tokens that providers counted. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface RunOutcome {
  result: Json;
  /** Sum over all text models called; undefined if none was counted. */
  usage: Usage | undefined;
  /** True if the text ended at the maximum of tokens. */
  isCut: boolean;
}

const usageOf = ({ nodes }: executions.Execution): Usage | undefined => {
  const counted = nodes.flatMap(({ usage }) => usage ?? []);
  if (counted.length === 0) return undefined;
  const input = counted.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  const output = counted.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
};

/** Output of an ended execution. @throws DomainError if the execution failed or hasn't ended */
const endedOf = (execution: executions.Execution): RunOutcome => {
  const { executionId, status, resultJson } = execution;
  if (status === "completed") {
    const isCut = execution.nodes.some(({ cutTexts }) => cutTexts > 0);
    return { result: JSON.parse(resultJson || "{}") as Json, usage: usageOf(execution), isCut };
  }
  if (status === "failed" || status === "cancelled") throw runFailure(execution);
  const message = `the run isn't over: follow it with GET /api/executions/${executionId}`;
  throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", message, { executionId });
};

const missing = (): DomainError => unavailable("executions answered without an execution");

/** Runs to the end. @throws DomainError if the run is rejected, fails, or takes longer than 600 s */
export const runToEnd = async (context: RunContext, runRequest: OpenAiRun): Promise<RunOutcome> => {
  const { services, stopping } = context.gateway;
  const { execution } = await startRun(services.executions, requestOf(context, runRequest, RUN_MODE_SYNC), stopping);
  if (!execution) throw missing();
  return endedOf(execution);
};

/** Starts a run without waiting; the caller follows its events. @throws DomainError if the run is rejected */
export const beginRun = async (context: RunContext, runRequest: OpenAiRun): Promise<void> => {
  const { services, stopping } = context.gateway;
  await startRun(services.executions, requestOf(context, runRequest, RUN_MODE_RESPOND_ASYNC), stopping);
};

/** Output of the request's run after its end. @throws DomainError if the run failed */
export const readEnd = async ({ gateway, executionId, caller }: RunContext): Promise<RunOutcome> => {
  const { execution } = await gateway.services.executions.getExecution({ executionId, userId: caller.user.id });
  if (!execution) throw missing();
  return endedOf(execution);
};

/** Addresses of the files in a member of a result, such as `images`. */
export const filesOf = (result: Json, member: "images" | "audios"): string[] =>
  ((result[member] ?? []) as readonly { url: string }[]).map(({ url }) => url);

/** Text of a result: its member `text`, else its first text, else the whole result as JSON. */
export const textOf = (result: Json): string => {
  const text = result.text ?? Object.values(result).find((member) => typeof member === "string");
  return typeof text === "string" ? text : JSON.stringify(result);
};
