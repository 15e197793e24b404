import {
  isFileType,
  isSlug,
  MODALITIES,
  readWrittenPrice,
  resultMember,
  schemaPorts,
  TASK_NAMES,
  TIERS,
  type JsonSchema,
  type Modality,
} from "@nodeloom/kernel";
import { writtenPrice } from "@nodeloom/platform";
import { providerSchema, RESULTS } from "@nodeloom/providers";
import { z } from "zod";
import { published } from "./published";
import { unknownInputs } from "./templates";

/** Schema of a registry file: one model with its provider settings, inputs and wholesale price. */

const text = z.string().min(1);
/** True if the output fits the modality. Text models can return JSON in addition to text. */
const isOutputOf = (modality: Modality, [first, second]: readonly string[]): boolean =>
  first === resultMember(modality) && (second === undefined || (modality === "text" && second === "json"));

const isFileInput = (schema: JsonSchema, input: string, only?: "mask"): boolean =>
  schemaPorts(schema).some(([name, { type }]) => name === input && isFileType(type) && (only === undefined || type === only));

export const entrySchema = z
  .strictObject({
    internalName: z.string().refine(isSlug, "must be lowercase letters, digits and single hyphens"),
    displayName: text,
    description: z.string().default(""),
    modality: z.enum(MODALITIES),
    sandbox: z.boolean().default(false),
    /** `local`: runs on this machine, in the inference service. */
    runsAt: z.enum(["provider", "local"]).default("provider"),
    /** Tasks for `auto:<task>`; derived from modality and inputs by default. */
    tasks: z.array(z.enum(TASK_NAMES)).optional(),
    ...published,
    provider: providerSchema,
    inputSchema: z.looseObject({ type: z.literal("object"), properties: z.record(text, z.looseObject({})) }),
    outputs: z.array(z.enum(RESULTS)).min(1).max(2),
    /** Null if the price is unknown. The model can't be enabled in that case. */
    price: writtenPrice.transform(readWrittenPrice).nullable(),
    minTier: z.enum(TIERS),
    trialRuns: z.number().int().min(0).max(1_000_000).default(0),
    enabled: z.boolean().default(true),
  })
  .refine(({ outputs, modality }) => isOutputOf(modality, outputs), { path: ["outputs"], message: "must be outputs of the modality" })
  .refine(({ provider, modality }) => provider.kind !== "llm" || modality === "text", {
    path: ["provider", "kind"],
    message: "llm providers make text alone",
  })
  .refine(({ provider, outputs }) => !("outputs" in provider) || outputs.every((name) => Object.hasOwn(provider.outputs, name)), {
    path: ["provider", "outputs"],
    message: "must point to the output",
  })
  .refine(({ provider }) => provider.kind !== "comfyui" && !provider.server, {
    path: ["provider"],
    message: "models of one's own servers are added under Models → Add a server",
  })
  .refine(({ internalName, successor }) => internalName !== successor, { path: ["successor"], message: "must be another model" })
  .superRefine(({ provider, inputSchema }, context) => {
    for (const [name, { send, mask }] of Object.entries(provider.files ?? {})) {
      const path = ["provider", "files", name];
      if (!isFileInput(inputSchema, name)) context.addIssue({ code: "custom", path, message: "isn't an input for files" });
      if (mask && !(isFileInput(inputSchema, name, "mask") && isFileInput(inputSchema, mask.image)))
        context.addIssue({
          code: "custom",
          path: [...path, "mask"],
          message: 'needs an input with "x-mask": true, and names the input of its image',
        });
      if (send.includes("upload") && !provider.upload)
        context.addIssue({ code: "custom", path: [...path, "send"], message: "needs provider.upload" });
      if (send.includes("form") && !("request" in provider && provider.request.form))
        context.addIssue({ code: "custom", path: [...path, "send"], message: "needs provider.request.form" });
    }
    for (const { name, path } of unknownInputs(provider, inputSchema))
      context.addIssue({ code: "custom", path: ["provider", ...path], message: `there is no input ${JSON.stringify(name)}` });
  });
export type Entry = z.infer<typeof entrySchema>;
export type InputSchema = Entry["inputSchema"];
