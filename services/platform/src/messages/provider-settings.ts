import { z } from "zod";

/** A registry entry's settings of its model's provider. Models checks them, executions calls the provider by them. */

const text = z.string().min(1);
const pointer = z.string().regex(/^(?:\/.*)?$/, "must be a JSON pointer");
const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional();
const path = z.string().startsWith("/");
const requestPath = path.includes("{requestId}");
const pollMs = z.number().int().min(50).max(60_000).optional();

/** The longest data URL that a provider may be sent; what is longer is streamed, or not sent. */
export const MAX_DATA_URL_CHARS = 5 * 1024 * 1024;

/** The ways a file may reach a provider. */
const SENDING = ["url", "upload", "data-url", "base64"] as const;

/** How the files of one input are sent: the first of these ways that is possible. */
const inputFiles = z.strictObject({
  send: z.array(z.enum(SENDING)).min(1),
  /** Characters of the longest data URL, or base64, that the provider takes. */
  maxDataChars: z.number().int().min(1).max(MAX_DATA_URL_CHARS).optional(),
});
export type InputFiles = z.infer<typeof inputFiles>;

const shared = {
  /** By input. */
  files: z.record(text, inputFiles).optional(),
  /** The provider's own storage. Its address is that of the provider, unless there is another. */
  upload: z.strictObject({ api: z.enum(["fal", "replicate", "runway"]), baseUrl: text.optional() }).optional(),
  /** Whether it reads public addresses alone; otherwise it does if its own address is public. */
  hosted: z.boolean().optional(),
  /** Calls of one process that may be under way at a provider. */
  maxConcurrent: z.number().int().min(1).max(10_000).optional(),
  /** Whether requests that are traced carry the header `traceparent`. */
  traceparent: z.boolean().optional(),
  /** The address up to and including the version, for example https://host/v1. */
  baseUrl: text,
  /** The secret's value stays in the environment of the process that calls the provider. */
  auth: z
    .strictObject({
      header: text.optional(),
      scheme: text.optional(),
      secretEnv: z.string().regex(/^[A-Z][A-Z0-9_]*$/, "must be the name of an environment variable"),
      default: text.optional(),
    })
    .optional(),
};

const jobs = {
  ...shared,
  /** Pointers to the files' URLs, by result member. */
  outputs: z
    .partialRecord(z.enum(["images", "videos", "audios"]), pointer)
    .refine((value) => Object.keys(value).length > 0, "must name an output"),
};

/**
 * Any provider that takes a job and is asked for it: URL templates, a body template and JSON pointers, so that a new
 * service is a JSON file. `{ "$input": "name" }` in the body is that input and `"${name}s"` a text with it, left out when it is absent.
 */
const httpPolling = z.strictObject({
  ...jobs,
  kind: z.literal("http-polling"),
  headers: z.record(text, z.string()).optional(),
  /** For services that tell errors inside answers whose status is 200: what stands at `when` is one unless it is one of `not`. */
  error: z
    .strictObject({ when: pointer, not: z.array(z.union([text, z.number(), z.boolean()])).min(1), message: pointer.optional() })
    .optional(),
  submit: z.strictObject({ method, path, idempotencyHeader: text.optional(), body: z.record(text, z.json()), requestId: pointer }),
  poll: z.strictObject({
    method,
    path: requestPath,
    status: pointer,
    succeeded: z.array(text).min(1),
    failed: z.array(text).min(1),
    cancelled: z.array(text).optional(),
    error: pointer.optional(),
    progress: pointer.optional(),
    firstMs: pollMs,
    intervalMs: pollMs,
    maxIntervalMs: pollMs,
  }),
  cancel: z.strictObject({ method, path: requestPath }).optional(),
});

const inferencePlatform = z.strictObject({
  ...jobs,
  kind: z.literal("inference-platform"),
  dialect: z.enum(["fal-queue", "replicate"]),
  /** fal: the application's path. Replicate: `owner/name` of an official model, or a version id. */
  app: text,
  /** A template of the inputs as they are sent; without it they are sent under their own names. */
  body: z.record(text, z.json()).optional(),
  /** The header by which the service recognises a repeated submission; these platforms themselves can't. */
  idempotencyHeader: text.optional(),
  firstMs: pollMs,
  intervalMs: pollMs,
  maxIntervalMs: pollMs,
});

const llm = z.strictObject({
  ...shared,
  kind: z.literal("llm"),
  model: text,
  stream: z.boolean().optional(),
  /** The request's member for the longest answer; newer models refuse `max_tokens`. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  /** Whether the model takes a schema (`response_format`); otherwise it is told the schema in words. */
  structuredOutput: z.enum(["json_schema"]).optional(),
});

const direct = {
  ...shared,
  kind: z.literal("direct"),
  model: text,
  /** Members of every request that no input can change. */
  parameters: z.record(text, z.json()).optional(),
};
/** A voice is part of a URL, so that nothing is allowed that could lead elsewhere. */
export const VOICE = /^[A-Za-z0-9_-]{1,128}$/;
const openAiImages = z.strictObject({ ...direct, dialect: z.literal("openai-images") });
const speech = z.strictObject({
  ...direct,
  dialect: z.literal("speech"),
  voice: z.string().regex(VOICE, "must be letters, digits, underscores and hyphens"),
  /** The provider's name of a format, for example mp3_44100_128. */
  outputFormat: text.optional(),
});

export const providerSchema = z.discriminatedUnion("kind", [
  httpPolling,
  inferencePlatform,
  llm,
  z.discriminatedUnion("dialect", [openAiImages, speech]),
]);
export type ProviderSettings = z.infer<typeof providerSchema>;
