import { randomUUID } from "node:crypto";
import { Router, type Request } from "express";
import { z } from "zod";
import { GENERATORS } from "../generators";
import type { Files } from "../files";
import { faultOf, faultSchema, MAX_COUNT, MAX_PROMPT_CHARACTERS } from "../inputs";
import { createExchanges } from "../one-exchange";
import { parseBody, ProviderError } from "../provider-error";
import { fileUrl } from "../requests";

const MODELS = ["sandbox-image", "sandbox-image-fast"] as const;
const isModel = (name: string): name is (typeof MODELS)[number] => (MODELS as readonly string[]).includes(name);

/** Other members are ignored, because many clients use this API. */
const imagesSchema = z.looseObject({
  model: z.string(),
  prompt: z.string().min(1).max(MAX_PROMPT_CHARACTERS),
  n: z.int().min(1).max(MAX_COUNT).nullish(),
  seed: z.int().nullish(),
  response_format: z.enum(["b64_json", "url"]).nullish(),
  sandbox: faultSchema.optional(),
});

export interface ImagesDialect {
  router: Router;
  /** Number of requests, including rejected ones. */
  requests(): number;
}

/** An OpenAI-compatible image API. Images are embedded or returned as URLs. */
export const imagesDialect = (files: Files, clock: () => number): ImagesDialect => {
  const router = Router();
  const exchanges = createExchanges();

  const picture = async (request: Request, name: string, asUrl: boolean): Promise<object> =>
    asUrl ? { url: fileUrl(request, name) } : { b64_json: (await files.open(name))!.bytes.toString("base64") };

  router.post("/v1/images/generations", async (request, response) => {
    const { model, prompt, n, seed, response_format, sandbox } = parseBody(imagesSchema, request.body);
    if (!isModel(model))
      throw new ProviderError(404, "model_not_found", `no such model: ${model.slice(0, 100)}; there is ${MODELS.join(" and ")}`, "model");
    const input = { prompt, count: n ?? 1, ...(typeof seed === "number" ? { seed } : {}) };
    const generator = GENERATORS[model];
    response.set("x-request-id", `req-${randomUUID()}`);
    const fault = faultOf(sandbox, model);
    if (!(await exchanges.undergo(response, { sandbox: fault }, generator.latencyMs(input)))) return;
    const names = fault?.fail === "incomplete" ? [] : generator.files(input);
    response.json({
      created: Math.floor(clock() / 1_000),
      data: await Promise.all(names.map((name) => picture(request, name, response_format === "url"))),
    });
  });

  return { router, requests: exchanges.count };
};
