import { randomUUID } from "node:crypto";
import { Router } from "express";
import { z } from "zod";
import { GENERATORS } from "../generators";
import type { Files } from "../files";
import { faultOf, faultSchema, MAX_PROMPT_CHARACTERS } from "../inputs";
import { createExchanges } from "../one-exchange";
import { parseBody, ProviderError } from "../provider-error";

export const SPEECH_PATH = "/v1/text-to-speech";
const MODEL = "sandbox-speech";
const PIECE_BYTES = 16 * 1_024;

const speechSchema = z.looseObject({
  text: z.string().min(1).max(MAX_PROMPT_CHARACTERS),
  model_id: z.string(),
  sandbox: faultSchema.optional(),
});

export interface SpeechDialect {
  router: Router;
  /** Number of requests, including rejected ones. */
  requests(): number;
}

/** A speech API that streams audio for a text. Every voice name is valid and sounds different. */
export const speechDialect = (files: Files): SpeechDialect => {
  const router = Router();
  const exchanges = createExchanges();

  router.post(`${SPEECH_PATH}/:voice`, async (request, response) => {
    const body = parseBody(speechSchema, request.body);
    if (body.model_id !== MODEL)
      throw new ProviderError(404, "model_not_found", `no such model: ${body.model_id.slice(0, 100)}; there is ${MODEL}`, "model_id");
    const { voice } = request.params;
    const generator = GENERATORS[MODEL];
    const input = { prompt: `${voice}: ${body.text}`, count: 1 };
    response.set("request-id", `req-${randomUUID()}`);
    const fault = faultOf(body.sandbox, MODEL);
    if (!(await exchanges.undergo(response, { sandbox: fault }, generator.latencyMs(input)))) return;
    response.type("audio/wav");
    if (fault?.fail !== "incomplete") {
      const { bytes } = (await files.open(generator.files(input)[0]!))!;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) response.write(bytes.subarray(at, at + PIECE_BYTES));
    }
    response.end();
  });

  return { router, requests: exchanges.count };
};
