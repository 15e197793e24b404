import { z } from "zod";
import { ProviderError, type DialectContext, type JobProvider, type PollState } from "./dialect";
import { pointer, pointerTexts } from "./pointer";
import { authSchema, createTransport, headerKey, type Transport } from "./transport";

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

const state = (settings: HttpPollingSettings, answer: unknown, reason: Transport["reason"]): PollState => {
  const { poll, outputs } = settings;
  const status = pointer(answer, poll.status);
  if (typeof status !== "string") throw new ProviderError("ambiguous", "the provider's answer has no status");
  if (poll.succeeded.includes(status))
    return { state: "succeeded", files: Object.values(outputs).flatMap((path) => pointerTexts(answer, path)) };
  if (poll.cancelled.includes(status)) return { state: "cancelled" };
  if (poll.failed.includes(status)) {
    const message = poll.error ? pointer(answer, poll.error) : undefined;
    return { state: "failed", message: typeof message === "string" ? reason(message) : "the provider reported a failure" };
  }
  const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
  return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
};

export const httpPolling = (settings: HttpPollingSettings, context: DialectContext): JobProvider => {
  const transport = createTransport(context, settings.auth);
  const { submit, poll, cancel, headers } = settings;
  const url = (path: string, requestId = ""): string => settings.baseUrl + path.replaceAll("{requestId}", encodeURIComponent(requestId));
  return {
    type: "job",
    idempotentSubmit: submit.idempotencyHeader !== undefined,
    intervalMs: poll.intervalMs,
    maxIntervalMs: poll.maxIntervalMs,
    submit: async ({ inputs, idempotencyKey, signal }) => {
      const answer = await transport.json({
        method: submit.method,
        url: url(submit.path),
        body: fillBody(submit.body, inputs),
        headers: submit.idempotencyHeader ? { ...headers, [submit.idempotencyHeader]: headerKey(idempotencyKey) } : headers,
        signal,
      });
      const requestId = pointer(answer, submit.requestId);
      if (typeof requestId !== "string" && typeof requestId !== "number")
        throw new ProviderError("refused", "the provider's answer has no request id");
      return { requestId: String(requestId) };
    },
    poll: async ({ requestId }, signal) =>
      state(settings, await transport.json({ method: poll.method, url: url(poll.path, requestId), headers, signal }), transport.reason),
    cancel: async ({ requestId }) => {
      if (!cancel) return false;
      await transport.json({ method: cancel.method, url: url(cancel.path, requestId), headers });
      return true;
    },
  };
};
