import { fromUsd, isFileType, isSlug, MICRO_USD_PER_USD, schemaPorts, TIERS, type JsonSchema, type Price } from "@nodeloom/kernel";
import { providerSchema } from "@nodeloom/platform";
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

/** What a provider that answers directly makes. */
const DIRECT_MODALITY = { "openai-images": "image", speech: "audio" } as const;

const isFileInput = (schema: JsonSchema, input: string): boolean =>
  schemaPorts(schema).some(([name, { type }]) => name === input && isFileType(type));

/** What a file of the registry must look like. */
export const entrySchema = z
  .strictObject({
    internalName: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens"),
    displayName: text,
    description: z.string().default(""),
    modality: z.enum(MODALITIES),
    sandbox: z.boolean().default(false),
    /** local: on the machine itself, by the inference service. */
    runsAt: z.enum(["provider", "local"]).default("provider"),
    provider: providerSchema,
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
  })
  .superRefine(({ provider, inputSchema }, context) => {
    for (const [name, { send }] of Object.entries(provider.files ?? {})) {
      const path = ["provider", "files", name];
      if (!isFileInput(inputSchema, name)) context.addIssue({ code: "custom", path, message: "is no input that takes files" });
      if (send.includes("upload") && !provider.upload)
        context.addIssue({ code: "custom", path: [...path, "send"], message: "needs provider.upload" });
    }
  });
export type Entry = z.infer<typeof entrySchema>;
export type InputSchema = Entry["inputSchema"];
