import { z } from "zod";
import { ProviderError, type DialectContext, type JobProvider, type PollState, type Submission } from "./dialect";
import { pointer, pointerTexts } from "./pointer";
import { authSchema, createTransport, type Transport } from "./transport";

/** Platforms that host many models behind one interface: fal's queue and Replicate's predictions. */
export const inferencePlatformSchema = z.object({
  kind: z.literal("inference-platform"),
  dialect: z.enum(["fal-queue", "replicate"]),
  baseUrl: z.string(),
  /** fal: the application's path. Replicate: `owner/name`, or a version id. */
  app: z.string(),
  auth: authSchema.optional(),
  outputs: z.record(z.string(), z.string()),
  intervalMs: z.number().default(100),
  maxIntervalMs: z.number().default(2_000),
});
export type InferencePlatformSettings = z.infer<typeof inferencePlatformSchema>;

const files = (settings: InferencePlatformSettings, answer: unknown): string[] =>
  Object.values(settings.outputs).flatMap((path) => pointerTexts(answer, path));

const requestIdOf = (answer: unknown, path: string): string => {
  const id = pointer(answer, path);
  if (typeof id !== "string") throw new ProviderError("refused", "the provider's answer has no request id");
  return id;
};

/** Only addresses under the configured base are followed; others are rebuilt from the request id. */
const under = (baseUrl: string, candidate: unknown, otherwise: string): string =>
  typeof candidate === "string" && candidate.startsWith(`${baseUrl}/`) ? candidate : otherwise;

const falQueue = (
  settings: InferencePlatformSettings,
  transport: Transport,
): Omit<JobProvider, "type" | "idempotentSubmit" | "intervalMs" | "maxIntervalMs"> => {
  const root = `${settings.baseUrl}/${settings.app}`;
  const at = (submission: Submission, name: string, path: string): string =>
    submission.handle?.[name] ?? `${root}/requests/${encodeURIComponent(submission.requestId)}${path}`;
  return {
    submit: async ({ inputs, signal }) => {
      const answer = await transport.json({ method: "POST", url: root, body: inputs, signal });
      const requestId = requestIdOf(answer, "/request_id");
      const request = `${root}/requests/${encodeURIComponent(requestId)}`;
      return {
        requestId,
        handle: {
          status: under(settings.baseUrl, pointer(answer, "/status_url"), `${request}/status`),
          response: under(settings.baseUrl, pointer(answer, "/response_url"), request),
          cancel: under(settings.baseUrl, pointer(answer, "/cancel_url"), `${request}/cancel`),
        },
      };
    },
    poll: async (submission, signal): Promise<PollState> => {
      const status = await transport.json({ method: "GET", url: at(submission, "status", "/status"), signal });
      if (pointer(status, "/status") !== "COMPLETED") return { state: "running" };
      const error = pointer(status, "/error");
      if (typeof error === "string") return { state: "failed", message: transport.reason(error) };
      try {
        return {
          state: "succeeded",
          files: files(settings, await transport.json({ method: "GET", url: at(submission, "response", ""), signal })),
        };
      } catch (failure) {
        // fal answers a failed request's response with 4xx.
        if (failure instanceof ProviderError && failure.status !== undefined && failure.status < 500)
          return { state: "failed", message: transport.reason(failure.body ?? failure.message) };
        throw failure;
      }
    },
    cancel: async (submission) => {
      await transport.json({ method: "PUT", url: at(submission, "cancel", "/cancel") });
      return true;
    },
  };
};

const replicateText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? "the prediction failed"));

const replicate = (
  settings: InferencePlatformSettings,
  transport: Transport,
): Omit<JobProvider, "type" | "idempotentSubmit" | "intervalMs" | "maxIntervalMs"> => {
  const predictions = `${settings.baseUrl}/v1/predictions`;
  const one = (submission: Submission): string => `${predictions}/${encodeURIComponent(submission.requestId)}`;
  return {
    submit: async ({ inputs, signal }) => {
      const named = settings.app.includes("/") && !settings.app.includes(":");
      const url = named ? `${settings.baseUrl}/v1/models/${settings.app}/predictions` : predictions;
      const answer = await transport.json({
        method: "POST",
        url,
        body: named ? { input: inputs } : { version: settings.app, input: inputs },
        signal,
      });
      return { requestId: requestIdOf(answer, "/id") };
    },
    poll: async (submission, signal): Promise<PollState> => {
      const answer = await transport.json({ method: "GET", url: one(submission), signal });
      switch (pointer(answer, "/status")) {
        case "succeeded": {
          const direct = [...pointerTexts(answer, "/output"), ...pointerTexts(answer, "/output/*")];
          return { state: "succeeded", files: direct.length > 0 ? direct : files(settings, answer) };
        }
        case "failed":
          return { state: "failed", message: transport.reason(replicateText(pointer(answer, "/error"))) };
        case "canceled":
        case "aborted":
          return { state: "cancelled" };
        default:
          return { state: "running" };
      }
    },
    cancel: async (submission) => {
      await transport.json({ method: "POST", url: `${one(submission)}/cancel` });
      return true;
    },
  };
};

export const inferencePlatform = (settings: InferencePlatformSettings, context: DialectContext): JobProvider => {
  const transport = createTransport(context, settings.auth);
  const { intervalMs, maxIntervalMs } = settings;
  const dialect = settings.dialect === "fal-queue" ? falQueue(settings, transport) : replicate(settings, transport);
  return { type: "job", idempotentSubmit: false, intervalMs, maxIntervalMs, ...dialect };
};
