import { z } from "zod";
import { authSchema } from "../transport";

/**
 * Any provider that takes a job and is asked for it: URL templates, a body template and JSON pointers, so that a new
 * service is a JSON file. `{ "$input": "name" }` in the body is that input, left out when it is absent.
 */
export const httpPollingSchema = z.object({
  kind: z.literal("http-polling"),
  baseUrl: z.string(),
  auth: authSchema.optional(),
  headers: z.record(z.string(), z.string()).default({}),
  submit: z.object({
    method: z.string().default("POST"),
    path: z.string(),
    idempotencyHeader: z.string().optional(),
    body: z.unknown(),
    requestId: z.string(),
  }),
  poll: z.object({
    method: z.string().default("GET"),
    path: z.string(),
    status: z.string(),
    succeeded: z.array(z.string()),
    failed: z.array(z.string()),
    cancelled: z.array(z.string()).default([]),
    error: z.string().optional(),
    progress: z.string().optional(),
    intervalMs: z.number().default(1_000),
    maxIntervalMs: z.number().default(5_000),
  }),
  cancel: z.object({ method: z.string().default("POST"), path: z.string() }).optional(),
  /** Pointers to the files' URLs, by result member (images, videos, audios). */
  outputs: z.record(z.string(), z.string()),
});
export type HttpPollingSettings = z.infer<typeof httpPollingSchema>;
