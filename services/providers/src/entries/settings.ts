import { z } from "zod";
import { defaults, described, method, ONE_BODY, outputs, path, pointer, request, shared, template, text } from "./parts";

export { MAX_DATA_URL_CHARS, type InputFiles } from "./parts";

/** A registry entry's settings of its model's provider. Models checks them, executions calls the provider by them. */

const pollMs = z.number().int().min(50).max(60_000).optional();
/** With the job's id, escaped; with `+` as it is, for ids that are paths. */
const namesJob = (value: string): boolean => value.includes("{requestId}") || value.includes("{+requestId}");
const requestPath = path.refine(namesJob, "must have {requestId} in it");
const state = z.union([text, z.number(), z.boolean()]);
const isOneBody = (value: { body?: unknown; form?: unknown }): boolean => value.body === undefined || value.form === undefined;
const isOneAddress = (value: { path?: unknown; url?: unknown }): boolean => value.path !== undefined || value.url !== undefined;
const AN_ADDRESS = "must have a path, or the url's place in the answer";

/** How a job is asked for, and what its answers say. */
const poll = z
  .strictObject({
    method,
    path: requestPath.optional(),
    /** Where the answer to the submission has the address instead; followed on the provider's own hosts alone. */
    url: pointer.optional(),
    status: pointer,
    succeeded: z.array(state).min(1),
    failed: z.array(state).optional(),
    cancelled: z.array(state).optional(),
    error: pointer.optional(),
    progress: pointer.optional(),
    firstMs: pollMs,
    intervalMs: pollMs,
    maxIntervalMs: pollMs,
  })
  .refine(isOneAddress, AN_ADDRESS);

/** A second request, for the result of a job that has succeeded. `values` of the last answer may be in its path. */
const result = z
  .strictObject({ method, path: path.optional(), url: pointer.optional(), values: z.record(text, pointer).optional() })
  .refine(isOneAddress, AN_ADDRESS);

/**
 * Any provider that takes a job and is asked for it: URL templates, a body template and JSON pointers, so that a new
 * service is a JSON file.
 */
const httpPolling = z
  .strictObject({
    ...shared,
    ...described,
    kind: z.literal("http-polling"),
    defaults,
    submit: z.strictObject({ ...request, idempotencyHeader: text.optional(), requestId: pointer }).refine(isOneBody, ONE_BODY),
    poll,
    result: result.optional(),
    cancel: z.strictObject({ method, path: requestPath }).optional(),
    outputs,
    /** Whether results on the provider's own hosts are fetched with its secret. */
    downloadWithKey: z.boolean().optional(),
  })
  .refine(({ poll: { failed }, error }) => failed !== undefined || error !== undefined, {
    path: ["poll", "failed"],
    message: "must say which states are failures, or `error` what else is one",
  });

/** One exchange over HTTP: a request and the answer with what was made. */
const directHttp = z.strictObject({
  ...shared,
  ...described,
  kind: z.literal("direct-http"),
  defaults,
  request: z.strictObject(request).refine(isOneBody, ONE_BODY),
  /** What the body of an answer is: JSON, a text, or the bytes of one file. By default JSON. */
  answer: z.enum(["json", "text", "bytes"]).optional(),
  /** Where the answer has the provider's name for the request; otherwise a header may. */
  requestId: pointer.optional(),
  outputs,
  downloadWithKey: z.boolean().optional(),
});

const inferencePlatform = z.strictObject({
  ...shared,
  kind: z.literal("inference-platform"),
  dialect: z.enum(["fal-queue", "replicate"]),
  /** fal: the application's path. Replicate: `owner/name` of an official model, or a version id. */
  app: text,
  defaults,
  /** A template of the inputs as they are sent; without it they are sent under their own names. */
  body: template.optional(),
  /** The header by which the service recognises a repeated submission; these platforms themselves can't. */
  idempotencyHeader: text.optional(),
  firstMs: pollMs,
  intervalMs: pollMs,
  maxIntervalMs: pollMs,
  outputs,
});

/** One workflow of a ComfyUI server, in its API's format. */
const comfyUi = z.strictObject({
  ...shared,
  kind: z.literal("comfyui"),
  /** JSON: by node id, its class and its inputs. */
  workflow: text,
  /** Where the model's inputs are put into the workflow. */
  inputs: z.record(text, z.strictObject({ node: text, input: text })),
  /** What its output files must be. */
  makes: z.enum(["image", "video", "audio"]),
  /** Whether its files keep what the server writes into them beside the picture or sound: ComfyUI writes the whole workflow. */
  keepMetadata: z.boolean().optional(),
});

const llm = z.strictObject({
  ...shared,
  kind: z.literal("llm"),
  /** Which API it speaks; by default OpenAI's chat completions, as most do. */
  dialect: z.enum(["openai-chat", "anthropic", "gemini"]).optional(),
  model: text,
  /** Members of every request that no input can change. */
  parameters: z.record(text, z.json()).optional(),
  stream: z.boolean().optional(),
  /** The request's member for the longest answer; newer models refuse `max_tokens`. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  /**
   * Whether the model takes a schema: by the provider's mode for that, or, of Anthropic's, as the input of a tool. Otherwise the prompt
   * says what the answer must look like.
   */
  structuredOutput: z.enum(["json_schema", "tool"]).optional(),
  /** Whether the model calls tools: its inputs for them are added to the entry's. */
  tools: z.boolean().optional(),
});

const CONCURRENCY = /^[1-9]\d{0,4}$/;

/**
 * Calls of one process that may be under way with an entry's secret: the number of its variable, else its own; undefined: any.
 * @param env reads a variable; what is no number from 1 to 99999 there counts as not set
 */
export const accountConcurrency = (
  { auth }: Pick<ProviderSettings, "auth">,
  env: (name: string) => string | undefined,
): number | undefined => {
  const given = auth?.maxConcurrentEnv === undefined ? undefined : env(auth.maxConcurrentEnv);
  return given !== undefined && CONCURRENCY.test(given) ? Number(given) : auth?.maxConcurrent;
};

export const providerSchema = z.discriminatedUnion("kind", [httpPolling, directHttp, inferencePlatform, comfyUi, llm]);
export type ProviderSettings = z.infer<typeof providerSchema>;
export type HttpPollingSettings = z.infer<typeof httpPolling>;
export type DirectHttpSettings = z.infer<typeof directHttp>;
export type ComfyUiSettings = z.infer<typeof comfyUi>;
