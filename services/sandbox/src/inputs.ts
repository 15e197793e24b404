import { z } from "zod";

export const MAX_PROMPT_CHARACTERS = 262_144;
export const MAX_COUNT = 4;
/** Maximum duration of videos. */
export const MAX_SECONDS = 10;
export const MAX_MUSIC_SECONDS = 120;
export const MAX_LATENCY_MS = 600_000;
const MAX_MODEL_NAME = 200;
const MAX_MODELS = 20;
/** Larger than the largest valid data URL, so that an oversized one causes the sandbox's error instead of the parser's. */
export const BODY_LIMIT_BYTES = 20 * 1024 * 1024;
const IMAGE_REFERENCE = /^(https?:\/\/\S+|data:[\w.+-]+\/[\w.+-]+(?:;[^,]*)?,)/i;

export const FAILURES = ["submit", "job", "incomplete", "hang", "flap"] as const;

/** Faults that a request can set for itself. */
export const faultSchema = z.strictObject({
  latencyMs: z.int().min(0).max(MAX_LATENCY_MS).optional(),
  fail: z.enum(FAILURES).optional(),
  status: z.int().min(400).max(599).optional(),
  /** Names of models that fail; all by default. */
  models: z.array(z.string().max(MAX_MODEL_NAME)).max(MAX_MODELS).optional(),
});
export type Fault = z.infer<typeof faultSchema>;

/** Returns the fault for one model. A failure that is limited to other models is dropped. */
export const faultOf = <F extends Omit<Fault, "fail"> & { fail?: string | undefined }>(
  fault: F | undefined,
  model: string,
): F | undefined => {
  if (!fault?.models || fault.models.includes(model)) return fault;
  const { fail: _, status: __, ...rest } = fault;
  return rest as F;
};

export const imageReference = z.string().regex(IMAGE_REFERENCE, "must be an http(s) URL or a data URL");
const prompt = z.string().min(1).max(MAX_PROMPT_CHARACTERS);

/** Inputs that all generators share. */
const generatorInputs = {
  image: imageReference.optional(),
  /** The part of the image to draw in: white is selected. */
  mask: imageReference.optional(),
  count: z.int().min(1).max(MAX_COUNT).default(1),
  seconds: z.int().min(1).max(MAX_SECONDS).optional(),
  seed: z.int().optional(),
  sandbox: faultSchema.optional(),
};

const needsImage = ({ image, mask }: { image?: string | undefined; mask?: string | undefined }): boolean =>
  mask === undefined || image !== undefined;
const MASK_NEEDS_IMAGE = { path: ["mask"], message: "needs an image" };

export const generatorSchema = z
  .strictObject({ ...generatorInputs, prompt: prompt.optional(), text: prompt.optional() })
  .refine(needsImage, MASK_NEEDS_IMAGE)
  .refine((input) => input.prompt !== undefined || input.text !== undefined, { path: ["prompt"], message: "is required" })
  .transform(({ prompt: promptText, text, ...rest }) => ({ ...rest, prompt: promptText ?? text ?? "" }));
export type GeneratorInput = z.infer<typeof generatorSchema>;

export const jobSchema = z
  .strictObject({
    ...generatorInputs,
    seconds: z.int().min(1).max(MAX_MUSIC_SECONDS).optional(),
    kind: z.enum(["image", "video", "music", "3d"]),
    quality: z.enum(["standard", "pro"]).default("standard"),
    prompt: prompt.optional(),
  })
  .refine(needsImage, MASK_NEEDS_IMAGE)
  .refine(({ kind, prompt: text, image }) => text !== undefined || (kind === "3d" && image !== undefined), {
    path: ["prompt"],
    message: "is required, or an image for a 3D model",
  })
  .refine(({ kind, seconds = 1 }) => kind === "music" || seconds <= MAX_SECONDS, {
    path: ["seconds"],
    message: `must be at most ${MAX_SECONDS}`,
  })
  .transform(({ prompt: text = "", ...rest }) => ({ ...rest, prompt: text }));

export const predictionSchema = z.looseObject({
  version: z.string().optional(),
  model: z.string().optional(),
  input: generatorSchema,
});
