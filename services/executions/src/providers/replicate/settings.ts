import { z } from "zod";
import { authSchema } from "../transport";

/** Replicate's predictions. */
export const replicateSchema = z.object({
  kind: z.literal("inference-platform"),
  dialect: z.literal("replicate"),
  baseUrl: z.string(),
  /** `owner/name` of an official model, or a version id. */
  app: z.string(),
  auth: authSchema.optional(),
  /** For services that know one; these platforms themselves don't. */
  idempotencyHeader: z.string().optional(),
  /** Pointers to the files' URLs, by result member; used where the output is no plain URL or list of URLs. */
  outputs: z.record(z.string(), z.string()),
  intervalMs: z.number().default(100),
  maxIntervalMs: z.number().default(2_000),
});
export type ReplicateSettings = z.infer<typeof replicateSchema>;
