import { z } from "zod";
import { defineRoute, type Reply } from "../../edge/route";
import { check } from "../../http/validate";
import { readFile } from "./files";
import { filesOf, FORM_ERRORS, moreInputs, RUN_ERRORS, running, runToEnd, type RunContext } from "./runs";
import { readTarget } from "./target";
import { withForm } from "./uploads";
import { IGNORED, IMAGE_FORMATS } from "./vocabulary";
import { formBody, jsonBody } from "../../http/body/kinds";

const MS = 1_000;
const MAX_IMAGES = 10;

const text = z.string().min(1);
const shared = {
  model: text.meta({ description: "A model's internal name, or `workflow/<slug>`", example: "sandbox-image" }),
  prompt: text.nullish().meta({ description: "Value for the input `prompt`, or the first text input. Ignored if there is none" }),
  n: z.number().int().min(1).max(MAX_IMAGES).nullish(),
  size: z.string().nullish().meta({ description: "Pixels, such as 1024x1024; for models with a size or a ratio", example: "1024x1024" }),
  response_format: z.enum(IMAGE_FORMATS).nullish(),
  user: z.string().nullish().meta({ description: "Stored as the metadata `user` of the run" }),
};
const generation = z.looseObject({ ...shared, stream: z.literal(false).nullish(), inputs: moreInputs }).meta({ id: "OpenAiImageRequest" });
const fields = z.looseObject({
  ...shared,
  n: z.coerce.number().int().min(1).max(MAX_IMAGES).optional(),
  stream: z.literal("false").optional(),
  inputs: z.undefined().optional(),
});
const file = z
  .string()
  .min(1)
  .meta({ override: { format: "binary" } });
const form = z.looseObject({ ...shared, image: z.array(file).min(1), mask: file.optional() }).meta({ id: "OpenAiImageEditForm" });

const image = z.object({ url: z.string().optional(), b64_json: z.string().optional() });
const images = z.object({ created: z.number().int().meta({ description: "Seconds" }), data: z.array(image) }).meta({ id: "OpenAiImages" });

type ImageRequest = z.infer<typeof generation> | z.infer<typeof fields>;

const answer = async (context: RunContext, imageRequest: ImageRequest): Promise<Reply> => {
  const { model, inputs, response_format: format, user, stream: _, ...parameters } = imageRequest;
  const target = await readTarget(context.gateway, context.caller, model, "image");
  const runRequest = { target, inputs: target.inputsOf(parameters, { ignored: IGNORED.images, own: inputs }), user: user ?? undefined };
  const { result } = await runToEnd(context, runRequest);
  const urls = filesOf(result, "images");
  const data = urls.map(async (url) =>
    format === "b64_json" ? { b64_json: (await readFile(context, url)).bytes.toString("base64") } : { url },
  );
  return { status: 200, body: { created: Math.floor(Date.now() / MS), data: await Promise.all(data) } };
};

const making = { ...running, responses: { 200: images } } as const;

export const openAiImageRoutes = [
  defineRoute({
    ...making,
    path: "/v1/images/generations",
    operationId: "openaiGenerateImages",
    summary: "Generate images",
    idempotent: "rebuild",
    body: jsonBody(generation),
    errors: RUN_ERRORS,
    example: { model: "sandbox-image", prompt: "A lighthouse at dusk" },
    handler: (context) => answer(context as RunContext, context.body),
  }),
  defineRoute({
    ...making,
    path: "/v1/images/edits",
    operationId: "openaiEditImages",
    summary: "Edit images",
    description: "A form with the fields of a generation, and files: one or more as `image` (or `image[]`), perhaps one as `mask`.",
    body: formBody(form),
    errors: FORM_ERRORS,
    handler: (context) => withForm(context, "image", (form) => answer(context, check(fields, { ...form.fields, ...form.files }))),
  }),
];
