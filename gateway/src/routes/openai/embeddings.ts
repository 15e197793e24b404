import { randomUUID } from "node:crypto";
import { DomainError, invalidRequest, isRecord } from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute, type Reply } from "../../edge/route";
import { moreInputs, RUN_ERRORS, running, runToEnd, type RunContext } from "./runs";
import { readTarget } from "./target";
import { textsOfTokens } from "./tokens";
import { VECTOR_FORMATS } from "./vocabulary";
import { jsonBody } from "../../http/body/kinds";

/** Input name of embedding models. */
const TEXTS = "texts";
/** OpenAI's own limit. */
const MAX_TEXTS = 2_048;
/** OpenAI accepts 300,000 tokens per request. */
const MAX_VALUES = 310_000;

const INPUT = `must be a text or its tokens, none of them empty, or a list of at most ${MAX_TEXTS} of these`;

const text = z.string().min(1);
const tokens = z.array(z.number().int().min(0)).min(1);
const request = z
  .looseObject({
    model: text.meta({ description: "The internal name of an embedding model", example: "local-embeddings" }),
    input: z
      .union([text, z.array(text).min(1).max(MAX_TEXTS), tokens, z.array(tokens).min(1).max(MAX_TEXTS)], INPUT)
      .meta({ description: `A text, or up to ${MAX_TEXTS}; each also as its tokens of cl100k_base` }),
    encoding_format: z.enum(VECTOR_FORMATS).nullish().meta({ description: "`base64`: 32-bit floats, little-endian" }),
    user: z.string().nullish().meta({ description: "Stored as the metadata `user` of the run" }),
    inputs: moreInputs,
  })
  .meta({ id: "OpenAiEmbeddingsRequest" });
const embeddings = z
  .object({
    object: z.literal("list"),
    model: z.string(),
    data: z.array(
      z.object({ object: z.literal("embedding"), index: z.number().int(), embedding: z.union([z.array(z.number()), z.string()]) }),
    ),
    usage: z
      .object({ prompt_tokens: z.number().int(), total_tokens: z.number().int() })
      .optional()
      .meta({ description: "Tokens, if the model reports them" }),
  })
  .meta({ id: "OpenAiEmbeddings" });

const isVector = (value: unknown): value is number[] => Array.isArray(value) && value.every((one) => typeof one === "number");

/** Vectors of an answer, and its tokens. @throws DomainError unless there is one vector per text */
const vectorsIn = (json: unknown, count: number, executionId: string): { vectors: number[][]; tokens: unknown } => {
  const { vectors, tokens } = isRecord(json) ? json : {};
  if (Array.isArray(vectors) && vectors.length === count && vectors.every(isVector)) return { vectors, tokens };
  throw new DomainError("failed", "EXECUTION_FAILED", "the run returned no vectors", { executionId });
};

const encoded = (vector: readonly number[]): string => Buffer.from(Float32Array.from(vector).buffer).toString("base64");

const isTexts = (input: z.infer<typeof request>["input"]): input is string[] => Array.isArray(input) && typeof input[0] === "string";

const textsOf = async (input: z.infer<typeof request>["input"]): Promise<string[]> => {
  if (typeof input === "string") return [input];
  if (isTexts(input)) return input;
  return textsOfTokens((Array.isArray(input[0]) ? input : [input]) as number[][]);
};

const inParts = <T>(all: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, index) => all.slice(index * most, (index + 1) * most));

/** Starts runs one after another, each with as many texts as the model accepts. The first run has the request's execution id. */
const embed = async (context: RunContext, embeddingRequest: z.infer<typeof request>): Promise<Reply> => {
  const { model, input, encoding_format: format, user, inputs, ...parameters } = embeddingRequest;
  const target = await readTarget(context.gateway, context.caller, model, "text");
  if (!target.takes(TEXTS)) throw invalidRequest([{ path: "model", message: `${model} doesn't create vectors` }]);
  const sharedInputs = target.inputsOf(parameters, { own: inputs });
  const batches: { vectors: number[][]; tokens: unknown }[] = [];
  for (const texts of inParts(await textsOf(input), target.mostOf(TEXTS) ?? MAX_TEXTS)) {
    const part = batches.length === 0 ? context : { ...context, executionId: randomUUID() };
    const { result } = await runToEnd(part, { target, inputs: { ...sharedInputs, [TEXTS]: texts }, user: user ?? undefined });
    batches.push(vectorsIn(result.json, texts.length, part.executionId));
  }
  const data = batches
    .flatMap(({ vectors }) => vectors)
    .map((vector, index) => ({
      ...{ object: "embedding", index },
      embedding: format === "base64" ? encoded(vector) : vector,
    }));
  const counts = batches.flatMap(({ tokens: count }) => (typeof count === "number" ? [count] : []));
  const count = counts.reduce((sum, one) => sum + one, 0);
  const usage = counts.length === batches.length ? { usage: { prompt_tokens: count, total_tokens: count } } : {};
  return { status: 200, body: { object: "list", model, data, ...usage } };
};

export const openAiEmbeddingRoutes = [
  defineRoute({
    ...running,
    path: "/v1/embeddings",
    operationId: "openaiEmbed",
    summary: "Create embeddings",
    body: jsonBody(request, { values: MAX_VALUES }),
    responses: { 200: embeddings },
    errors: RUN_ERRORS,
    example: { model: "local-embeddings", input: "A lighthouse at dusk" },
    handler: (context) => embed(context as RunContext, context.body),
  }),
];
