import { z } from "zod";
import { filesAt, requestIdOf } from "../answers";
import { ProviderError, type DialectContext, type JobProvider } from "../dialect";
import { jobProvider } from "../job";
import { pointer } from "../pointer";
import { authSchema, createTransport, type JsonCall } from "../transport";

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

const ABSENT = Symbol("absent");

/** Fills a body template with inputs. */
const fillBody = (template: unknown, inputs: Record<string, unknown>): unknown => {
  if (Array.isArray(template)) return template.map((item) => fillBody(item, inputs)).filter((item) => item !== ABSENT);
  if (typeof template !== "object" || template === null) return template;
  const name = (template as { $input?: unknown }).$input;
  if (typeof name === "string") return inputs[name] ?? ABSENT;
  return Object.fromEntries(
    Object.entries(template)
      .map(([key, value]): [string, unknown] => [key, fillBody(value, inputs)])
      .filter(([, value]) => value !== ABSENT),
  );
};

/** A service that is described by its registry entry alone. */
export const httpPolling = (settings: z.infer<typeof httpPollingSchema>, context: DialectContext): JobProvider => {
  const { baseUrl, headers, submit, poll, cancel, outputs } = settings;
  const callOf = ({ method, path }: { method: string; path: string }, requestId = ""): JsonCall => ({
    method,
    url: baseUrl + path.replaceAll("{requestId}", encodeURIComponent(requestId)),
    headers,
  });

  const pace = { ...poll, idempotencyHeader: submit.idempotencyHeader };
  return jobProvider(createTransport(context, settings.auth), pace, {
    submit: (inputs) => ({ ...callOf(submit), body: fillBody(submit.body, inputs) }),
    submitted: (answer) => ({ requestId: requestIdOf(answer, submit.requestId) }),
    status: ({ requestId }) => callOf(poll, requestId),
    state: (answer) => {
      const status = pointer(answer, poll.status);
      if (typeof status !== "string") throw new ProviderError("ambiguous", "the provider's answer has no status");
      if (poll.succeeded.includes(status)) return { state: "succeeded", files: filesAt(outputs, answer) };
      if (poll.cancelled.includes(status)) return { state: "cancelled" };
      if (poll.failed.includes(status)) {
        const message = poll.error ? pointer(answer, poll.error) : undefined;
        return { state: "failed", message: typeof message === "string" ? message : "the provider reported a failure" };
      }
      const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
      return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
    },
    cancel: ({ requestId }) => cancel && callOf(cancel, requestId),
  });
};
