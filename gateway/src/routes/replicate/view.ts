import { isRecord } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { anyObject, iso, timestamp, uuid } from "../../http/schemas";
import { nameOfRun } from "../facades/target";
import { runFailure } from "../runs/run";

/** Predictions of Replicate's API (replicate.com/docs/reference/http): executions as its libraries read them. */

const MS = 1_000;
export const STATUSES = ["starting", "processing", "succeeded", "failed", "canceled"] as const;
type Status = (typeof STATUSES)[number];

export const prediction = z
  .object({
    id: uuid.meta({ description: "The execution's id" }),
    model: z.string().meta({ example: "nodeloom/sandbox-image" }),
    version: z.string().meta({ description: "Of a workflow: the version that runs, or `draft`. Of a model: `hidden`" }),
    input: anyObject,
    output: z
      .unknown()
      .meta({ description: "A result with one member is that member. Files are their addresses. Null until it succeeded" }),
    error: z.string().nullable(),
    logs: z.string(),
    status: z.enum(STATUSES),
    source: z.enum(["api", "web"]),
    data_removed: z.boolean(),
    metrics: z.object({ predict_time: z.number(), total_time: z.number() }).optional().meta({ description: "Seconds" }),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    urls: z.object({ get: z.string(), cancel: z.string(), stream: z.string(), web: z.string() }),
  })
  .meta({ id: "ReplicatePrediction" });

const ENDS: Readonly<Record<string, Status>> = { completed: "succeeded", failed: "failed", cancelled: "canceled" };

const hasStarted = ({ queued, nodes }: executions.Execution): boolean => !queued && nodes.some(({ startedAt }) => startedAt !== undefined);

export const statusOf = (run: executions.Execution): Status => ENDS[run.status] ?? (hasStarted(run) ? "processing" : "starting");

/** A value whose files are their addresses. A result has a file as an object with its address alone. */
const withAddresses = (value: unknown, media: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, media));
  if (!isRecord(value)) return value;
  if (typeof value.url === "string" && value.url.startsWith(media) && Object.keys(value).length === 1) return value.url;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withAddresses(member, media)]));
};

const outputOf = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, { resultJson }: executions.Execution): unknown => {
  const result = JSON.parse(resultJson || "{}") as Record<string, unknown>;
  const members = Object.values(result);
  return withAddresses(members.length === 1 ? members[0] : result, `${publicBaseUrl}/media/`);
};

const startedAt = ({ nodes }: executions.Execution): Date | undefined =>
  nodes.reduce<Date | undefined>((first, { startedAt: at }) => (at && (!first || at < first) ? at : first), undefined);

const timesOf = (run: executions.Execution) => {
  const { createdAt, finishedAt } = run;
  const started = startedAt(run);
  const secondsFrom = (from: Date): number => Math.max(0, (finishedAt?.getTime() ?? 0) - from.getTime()) / MS;
  return {
    created_at: iso(createdAt) ?? new Date().toISOString(),
    ...{ started_at: iso(started), completed_at: iso(finishedAt) },
    ...(finishedAt && createdAt
      ? { metrics: { predict_time: secondsFrom(started ?? finishedAt), total_time: secondsFrom(createdAt) } }
      : {}),
  };
};

const logsOf = ({ nodes }: executions.Execution): string =>
  nodes.flatMap(({ id, label, status, startedAt: at }) => (at ? [`${label || id}: ${status}\n`] : [])).join("");

const versionOf = ({ workflowSlug, version }: executions.Execution): string => {
  if (workflowSlug === undefined) return "hidden";
  return version === 0 ? "draft" : String(version);
};

export const predictionView = async (gateway: Gateway, run: executions.Execution): Promise<z.infer<typeof prediction>> => {
  const status = statusOf(run);
  const get = `${gateway.publicBaseUrl}/replicate/v1/predictions/${run.executionId}`;
  return {
    ...{ id: run.executionId, model: await nameOfRun(gateway, run), version: versionOf(run), status },
    input: JSON.parse(run.inputsJson || "{}") as Record<string, unknown>,
    output: status === "succeeded" ? outputOf(gateway, run) : null,
    error: status === "failed" ? runFailure(run).message : null,
    logs: logsOf(run),
    source: run.keyId === "" ? "web" : "api",
    data_removed: false,
    ...timesOf(run),
    urls: { get, cancel: `${get}/cancel`, stream: `${get}/stream`, web: `${gateway.publicBaseUrl}/executions/${run.executionId}` },
  };
};
