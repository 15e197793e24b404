import { z } from "zod";
import { defaults, described, method, ONE_BODY, outputs, path, pointer, request, shared, template, text } from "./parts";

export { MAX_DATA_URL_CHARS, type InputFiles } from "./parts";

/** Provider settings of a registry entry. The models service checks them, and executions uses them to call the provider. */

const pollMs = z.number().int().min(50).max(60_000).optional();
/**
 * True if a text contains the placeholder for the job's escaped id, or (with `+`) for the unescaped id, which is for ids that are paths.
 */
const namesJob = (value: string): boolean => value.includes("{requestId}") || value.includes("{+requestId}");
const requestPath = path.refine(namesJob, "must have {requestId} in it");
const state = z.union([text, z.number(), z.boolean()]);
const isOneBody = (value: { body?: unknown; form?: unknown }): boolean => value.body === undefined || value.form === undefined;
const isOneAddress = (value: { path?: unknown; url?: unknown }): boolean => value.path !== undefined || value.url !== undefined;
const AN_ADDRESS = "must have a path, or the url's place in the answer";

/** The poll request, and the meaning of its responses. */
const poll = z
  .strictObject({
    method,
    path: requestPath.optional(),
    /** Pointer to a URL in the submission's response. Only URLs on the provider's own hosts are used. */
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

/** A second request for the result of a completed job. Its path can use `values` of the last response. */
const result = z
  .strictObject({ method, path: path.optional(), url: pointer.optional(), values: z.record(text, pointer).optional() })
  .refine(isOneAddress, AN_ADDRESS);

/**
 * Any provider with jobs and polling, described by URL templates, a body template and JSON pointers, so that a new service needs only a
 * JSON file.
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
    /** True to send the secret when results are downloaded from the provider's own hosts. */
    downloadWithKey: z.boolean().optional(),
  })
  .refine(({ poll: { failed }, error }) => failed !== undefined || error !== undefined, {
    path: ["poll", "failed"],
    message: "must list the states of failures, or `error` must define a failure",
  });

/** A single HTTP exchange that returns the output. */
const directHttp = z.strictObject({
  ...shared,
  ...described,
  kind: z.literal("direct-http"),
  defaults,
  request: z.strictObject(request).refine(isOneBody, ONE_BODY),
  /** Format of the response body. Default: JSON. */
  answer: z.enum(["json", "text", "bytes"]).optional(),
  /** Pointer to the provider's request id. Default: a response header. */
  requestId: pointer.optional(),
  outputs,
  downloadWithKey: z.boolean().optional(),
});

const inferencePlatform = z.strictObject({
  ...shared,
  kind: z.literal("inference-platform"),
  dialect: z.enum(["fal-queue", "replicate"]),
  /** For fal, the application's path. For Replicate, `owner/name` of an official model or a version id. */
  app: text,
  defaults,
  /** Template for the inputs. Without it, they are sent under their own names. */
  body: template.optional(),
  /** Header by which the service recognizes a repeated submission. The hosted platforms have none. */
  idempotencyHeader: text.optional(),
  firstMs: pollMs,
  intervalMs: pollMs,
  maxIntervalMs: pollMs,
  outputs,
});

/** A workflow on a ComfyUI server, in its API format. */
const comfyUi = z.strictObject({
  ...shared,
  kind: z.literal("comfyui"),
  /** JSON with the class and inputs of each node, by node id. */
  workflow: text,
  /** Node and input in the workflow for each input of the model. */
  inputs: z.record(text, z.strictObject({ node: text, input: text })),
  /** Type of the output files. */
  makes: z.enum(["image", "video", "audio"]),
  /** True to keep metadata that the server embeds in its files. ComfyUI embeds the whole workflow. */
  keepMetadata: z.boolean().optional(),
});

const llm = z.strictObject({
  ...shared,
  kind: z.literal("llm"),
  /** The API that the provider implements. Default: OpenAI's chat completions. */
  dialect: z.enum(["openai-chat", "anthropic", "gemini"]).optional(),
  model: text,
  /** Members of every request, which inputs can't change. */
  parameters: z.record(text, z.json()).optional(),
  stream: z.boolean().optional(),
  /** Request member for the token limit. Newer models reject `max_tokens`. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  /**
   * How the provider supports schemas: by its JSON mode, or (Anthropic) as the input of a tool. Without it, the prompt describes the
   * answer.
   */
  structuredOutput: z.enum(["json_schema", "tool"]).optional(),
  /** True if the model can call tools. Inputs for tools are added to the entry's inputs. */
  tools: z.boolean().optional(),
});

const CONCURRENCY = /^[1-9]\d{0,4}$/;

/**
 * Maximum concurrent calls per process with an entry's secret: the environment variable, otherwise the entry's number; undefined for no
 * limit.
 * @param env reads a variable; a value that isn't a number from 1 to 99999 counts as unset
 */
export const accountConcurrency = (
  { auth }: Pick<ProviderSettings, "auth">,
  env: (name: string) => string | undefined,
): number | undefined => {
  const concurrency = auth?.maxConcurrentEnv === undefined ? undefined : env(auth.maxConcurrentEnv);
  return concurrency !== undefined && CONCURRENCY.test(concurrency) ? Number(concurrency) : auth?.maxConcurrent;
};

export const providerSchema = z.discriminatedUnion("kind", [httpPolling, directHttp, inferencePlatform, comfyUi, llm]);
export type ProviderSettings = z.infer<typeof providerSchema>;
export type HttpPollingSettings = z.infer<typeof httpPolling>;
export type DirectHttpSettings = z.infer<typeof directHttp>;
export type ComfyUiSettings = z.infer<typeof comfyUi>;
