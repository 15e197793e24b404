import { isRecord } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";

/** Formats executions for responses and webhooks as fal's and Replicate's clients expect them. */

const MS = 1_000;

const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;
const resultOf = ({ resultJson }: executions.Execution): Record<string, unknown> =>
  JSON.parse(resultJson || "{}") as Record<string, unknown>;

/** The reason why a finished run has no result. */
const failureOf = ({ status, error }: executions.Execution): string =>
  status === "cancelled" ? "the run was cancelled" : error?.message || "the run failed";

/** fal's webhook for the end of a request. Its payload is the result. */
export const falWebhookJson = (execution: executions.Execution): Record<string, unknown> => {
  const head = { request_id: execution.executionId, gateway_request_id: execution.executionId };
  if (execution.status === "completed") return { ...head, status: "OK", payload: resultOf(execution), error: null };
  const error = failureOf(execution);
  return { ...head, status: "ERROR", payload: { detail: error }, error };
};

/** The executed workflow or model, named as in fal and Replicate. */
const nameOf = ({ workflowSlug, modelIds }: executions.Execution): string =>
  workflowSlug === undefined ? `nodeloom/${modelIds[0] ?? ""}` : `workflow/${workflowSlug}`;

const ENDS: Readonly<Record<string, string>> = { completed: "succeeded", failed: "failed", cancelled: "canceled" };

const startOf = ({ nodes }: executions.Execution): Date | undefined =>
  nodes.reduce<Date | undefined>((first, { startedAt: at }) => (at && (!first || at < first) ? at : first), undefined);

const statusOf = (execution: executions.Execution): string =>
  ENDS[execution.status] ?? (!execution.queued && startOf(execution) ? "processing" : "starting");

const FILE_MEMBERS: ReadonlySet<string> = new Set(["id", "url"]);
const isFile = (value: Readonly<Record<string, unknown>>, media: string): value is { url: string } =>
  typeof value.url === "string" && value.url.startsWith(media) && Object.keys(value).every((name) => FILE_MEMBERS.has(name));

/** Replaces each file in a value with its URL. In a result, a file is an object with a URL and sometimes an id. */
const withAddresses = (value: unknown, media: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, media));
  if (!isRecord(value)) return value;
  if (isFile(value, media)) return value.url;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withAddresses(member, media)]));
};

const outputOf = (execution: executions.Execution, baseUrl: string): unknown => {
  const result = resultOf(execution);
  const members = Object.values(result);
  return withAddresses(members.length === 1 ? members[0] : result, `${baseUrl}/media/`);
};

const timesOf = (execution: executions.Execution): Record<string, unknown> => {
  const { createdAt = new Date(0), finishedAt } = execution;
  const started = startOf(execution);
  const secondsFrom = (from: Date): number => Math.max(0, (finishedAt?.getTime() ?? 0) - from.getTime()) / MS;
  return {
    ...{ created_at: iso(createdAt), started_at: iso(started), completed_at: iso(finishedAt) },
    ...(finishedAt ? { metrics: { predict_time: secondsFrom(started ?? finishedAt), total_time: secondsFrom(createdAt) } } : {}),
  };
};

const logsOf = ({ nodes }: executions.Execution): string =>
  nodes.flatMap(({ id, label, status, startedAt: at }) => (at ? [`${label || id}: ${status}\n`] : [])).join("");

const versionOf = ({ workflowSlug, version }: executions.Execution): string => {
  if (workflowSlug === undefined) return "hidden";
  return version === 0 ? "draft" : String(version);
};

/**
 * Replicate's prediction format.
 * @param publicBaseUrl the gateway's URL for clients
 */
export const predictionJson = (execution: executions.Execution, publicBaseUrl: string): Record<string, unknown> => {
  const status = statusOf(execution);
  const base = publicBaseUrl.replace(/(?<!\/)\/+$/, "");
  const get = `${base}/replicate/v1/predictions/${execution.executionId}`;
  return {
    ...{ id: execution.executionId, model: nameOf(execution), version: versionOf(execution), status },
    input: JSON.parse(execution.inputsJson || "{}") as Record<string, unknown>,
    output: status === "succeeded" ? outputOf(execution, base) : null,
    error: status === "failed" ? failureOf(execution) : null,
    logs: logsOf(execution),
    source: execution.keyId === "" ? "web" : "api",
    data_removed: false,
    ...timesOf(execution),
    urls: { get, cancel: `${get}/cancel`, stream: `${get}/stream`, web: `${base}/executions/${execution.executionId}` },
  };
};
