import { z } from "zod";
import { authSchema } from "../transport";

/** fal's queue: one queue per application. */
export const falQueueSchema = z.object({
  kind: z.literal("inference-platform"),
  dialect: z.literal("fal-queue"),
  baseUrl: z.string(),
  /** The application's path. */
  app: z.string(),
  auth: authSchema.optional(),
  /** For services that know one; these platforms themselves don't. */
  idempotencyHeader: z.string().optional(),
  /** Pointers to the files' URLs, by result member. */
  outputs: z.record(z.string(), z.string()),
  intervalMs: z.number().default(100),
  maxIntervalMs: z.number().default(2_000),
});
export type FalQueueSettings = z.infer<typeof falQueueSchema>;
