import { predictionJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound } from "../../http/errors";
import { anyObject, timestamp, uuid, type ParamsSpec } from "../../http/schemas";

/** Shows models, pages and executions in the form of Replicate's API (replicate.com/docs/reference/http). */

export const modelName = {
  schema: z.object({
    owner: z.string().min(1).meta({ example: "nodeloom" }),
    name: z.string().min(1).meta({ example: "sandbox-image" }),
  }),
  invalid: () => modelNotFound("of that name"),
} satisfies ParamsSpec<{ owner: string; name: string }>;

export const pageOf = <T extends z.ZodType>(row: T) => z.object({ previous: z.null(), next: z.string().nullable(), results: z.array(row) });
export const pageView = <T>(results: T[], next: string | null = null) => ({ previous: null, next, results });
/** Address of the next page; null after the last one. */
export const nextPage = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, list: string, cursor: string): string | null =>
  cursor === "" ? null : `${publicBaseUrl}/replicate/v1/${list}?cursor=${encodeURIComponent(cursor)}`;

const STATUSES = ["starting", "processing", "succeeded", "failed", "canceled"] as const;

export const prediction = z
  .object({
    id: uuid.meta({ description: "The execution's id" }),
    model: z.string().meta({ example: "nodeloom/sandbox-image" }),
    version: z.string().meta({ description: "For a workflow: the version that runs, or `draft`. For a model: `hidden`" }),
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

export const predictionView = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, run: executions.Execution): z.infer<typeof prediction> =>
  predictionJson(run, publicBaseUrl) as z.infer<typeof prediction>;
