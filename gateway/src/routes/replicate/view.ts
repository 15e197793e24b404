import { predictionJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { anyObject, timestamp, uuid } from "../../http/schemas";

/** Predictions of Replicate's API (replicate.com/docs/reference/http): executions as its libraries read them. */

const STATUSES = ["starting", "processing", "succeeded", "failed", "canceled"] as const;

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

export const predictionView = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, run: executions.Execution): z.infer<typeof prediction> =>
  predictionJson(run, publicBaseUrl) as z.infer<typeof prediction>;
