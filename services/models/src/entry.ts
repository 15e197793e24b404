import { fromUsd, isSlug, MICRO_USD_PER_USD, TIERS, type Price } from "@nodeloom/kernel";
import { z } from "zod";

/** The form of a registry file: one model, its provider's settings, its inputs and its wholesale price. */

export const MODALITIES = ["image", "video", "audio", "text"] as const;
const OUTPUTS = ["images", "videos", "audios", "text"] as const;
/** What a model of a modality may deliver. */
const OUTPUT_OF: Readonly<Record<(typeof MODALITIES)[number], (typeof OUTPUTS)[number]>> = {
  image: "images",
  video: "videos",
  audio: "audios",
  text: "text",
};

const MAX_USD = 1_000_000;
/** Floating-point noise that is no fraction of a micro-dollar. */
const ROUNDING = 1e-6;

const text = z.string().min(1);
const usd = z
  .number()
  .min(0)
  .max(MAX_USD)
  .refine((value) => Math.abs(value * MICRO_USD_PER_USD - fromUsd(value)) < ROUNDING, "must be whole micro-dollars (at most six decimals)");

const price = z
  .union([
    z.strictObject({ perRunUsd: usd }).transform(({ perRunUsd }): Price => ({ basis: "run", microUsd: fromUsd(perRunUsd) })),
    z.strictObject({ perImageUsd: usd }).transform(({ perImageUsd }): Price => ({ basis: "image", microUsd: fromUsd(perImageUsd) })),
    z.strictObject({ perSecondUsd: usd }).transform(({ perSecondUsd }): Price => ({ basis: "second", microUsd: fromUsd(perSecondUsd) })),
    z.strictObject({ perThousandCharactersUsd: usd }).transform(({ perThousandCharactersUsd }): Price => ({
      basis: "characters",
      microUsdPerThousand: fromUsd(perThousandCharactersUsd),
    })),
    z.strictObject({ inputUsdPerMillionTokens: usd, outputUsdPerMillionTokens: usd }).transform((tokens): Price => ({
      basis: "tokens",
      inputMicroUsdPerMillion: fromUsd(tokens.inputUsdPerMillionTokens),
      outputMicroUsdPerMillion: fromUsd(tokens.outputUsdPerMillionTokens),
    })),
  ])
  .describe("price");

/** The secret's value stays in the environment of the process that calls the provider. */
const auth = z.strictObject({
  header: text.default("Authorization"),
  scheme: text.optional(),
  secretEnv: z.string().regex(/^[A-Z][A-Z0-9_]*$/, "must be the name of an environment variable"),
  default: text.optional(),
});

const pointer = z.string().regex(/^(?:\/.*)?$/, "must be a JSON pointer");
const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const path = z.string().startsWith("/");
const requestPath = path.includes("{requestId}");
const pollMs = z.number().int().min(50).max(60_000);
const files = z
  .partialRecord(z.enum(["images", "videos", "audios"]), pointer)
  .refine((value) => Object.keys(value).length > 0, "must name an output");

/** How many calls one process may have under way at a provider: its submissions, and its calls that are answered at once. */
const maxConcurrent = z.number().int().min(1).max(10_000).optional();
/** Whether requests tell the provider the trace that they are part of (the header `traceparent`): for those that are traced with us. */
const traceparent = z.boolean().optional();

const httpPolling = z.strictObject({
  kind: z.literal("http-polling"),
  maxConcurrent,
  traceparent,
  baseUrl: text,
  auth: auth.optional(),
  headers: z.record(text, z.string()).optional(),
  submit: z.strictObject({
    method: method.default("POST"),
    path,
    idempotencyHeader: text.optional(),
    body: z.record(text, z.json()),
    requestId: pointer,
  }),
  poll: z.strictObject({
    method: method.default("GET"),
    path: requestPath,
    status: pointer,
    succeeded: z.array(text).min(1),
    failed: z.array(text).min(1),
    cancelled: z.array(text).optional(),
    error: pointer.optional(),
    progress: pointer.optional(),
    intervalMs: pollMs.optional(),
    maxIntervalMs: pollMs.optional(),
  }),
  cancel: z.strictObject({ method: method.default("POST"), path: requestPath }).optional(),
  outputs: files,
});

const inferencePlatform = z.strictObject({
  kind: z.literal("inference-platform"),
  maxConcurrent,
  traceparent,
  dialect: z.enum(["fal-queue", "replicate"]),
  baseUrl: text,
  app: text,
  auth: auth.optional(),
  /** By which a repeated submission is recognised, where the service can. */
  idempotencyHeader: text.optional(),
  outputs: files,
  intervalMs: pollMs.optional(),
  maxIntervalMs: pollMs.optional(),
});

const llm = z.strictObject({
  kind: z.literal("llm"),
  maxConcurrent,
  traceparent,
  baseUrl: text,
  model: text,
  auth: auth.optional(),
  /** The answer is asked for piece by piece. */
  stream: z.boolean().optional(),
  /** What the model calls the most tokens of its answer: newer ones refuse the older name. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  /** How the model is told the schema of its answer (`response_format`); without it, in words. */
  structuredOutput: z.enum(["json_schema"]).optional(),
});

const direct = {
  kind: z.literal("direct"),
  maxConcurrent,
  traceparent,
  baseUrl: text,
  model: text,
  auth: auth.optional(),
  parameters: z.record(text, z.json()).optional(),
};
const openAiImages = z.strictObject({ ...direct, dialect: z.literal("openai-images") });
const speech = z.strictObject({
  ...direct,
  dialect: z.literal("speech"),
  voice: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must be letters, digits, underscores and hyphens"),
  outputFormat: text.optional(),
});
/** What a provider that answers directly makes. */
const DIRECT_MODALITY = { "openai-images": "image", speech: "audio" } as const;

/** What a file of the registry must look like. */
export const entrySchema = z
  .strictObject({
    internalName: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens"),
    displayName: text,
    description: z.string().default(""),
    modality: z.enum(MODALITIES),
    sandbox: z.boolean().default(false),
    provider: z.discriminatedUnion("kind", [httpPolling, inferencePlatform, llm, z.discriminatedUnion("dialect", [openAiImages, speech])]),
    inputSchema: z.looseObject({ type: z.literal("object"), properties: z.record(text, z.looseObject({})) }),
    outputs: z.array(z.enum(OUTPUTS)).length(1),
    price,
    minTier: z.enum(TIERS),
    trialRuns: z.number().int().min(0).max(1_000_000).default(0),
    enabled: z.boolean().default(true),
  })
  .refine((entry) => entry.outputs[0] === OUTPUT_OF[entry.modality], { path: ["outputs"], message: "must be what the modality delivers" })
  .refine((entry) => (entry.provider.kind === "llm") === (entry.modality === "text"), {
    path: ["provider", "kind"],
    message: "text comes from llm providers, and only text",
  })
  .refine(({ provider, modality }) => provider.kind !== "direct" || DIRECT_MODALITY[provider.dialect] === modality, {
    path: ["provider", "dialect"],
    message: "does not make what the modality says",
  })
  .refine(({ provider, outputs }) => !("outputs" in provider) || outputs.every((name) => Object.hasOwn(provider.outputs, name)), {
    path: ["provider", "outputs"],
    message: "must say where the output is",
  });
export type Entry = z.infer<typeof entrySchema>;
export type Provider = Entry["provider"];
export type InputSchema = Entry["inputSchema"];
