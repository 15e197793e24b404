import { DomainError, invalidRequest, isRecord } from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute, type Reply } from "../../http/route";
import { moreInputs, RUN_ERRORS, running, runToEnd, type RunContext } from "./runs";
import { readTarget } from "./target";

/** What models call the texts that they make vectors of. */
const TEXTS = "texts";
const FORMATS = ["float", "base64"] as const;

const text = z.string().min(1);
const request = z
  .looseObject({
    model: text.meta({ description: "The internal name of a model that makes vectors", example: "local-embeddings" }),
    input: z.union([text, z.array(text).min(1)]).meta({ description: "A text, or several" }),
    encoding_format: z.enum(FORMATS).nullish().meta({ description: "`base64`: 32-bit floats, little-endian" }),
    user: z.string().nullish().meta({ description: "Kept as the run's metadata `user`" }),
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
      .meta({ description: "Tokens, where the model says them" }),
  })
  .meta({ id: "OpenAiEmbeddings" });

const isVector = (value: unknown): value is number[] => Array.isArray(value) && value.every((one) => typeof one === "number");

/** The vectors of an answer, and the tokens that they were made of. @throws DomainError where it has not one for each text */
const vectorsIn = (json: unknown, count: number, executionId: string): { vectors: number[][]; tokens: unknown } => {
  const { vectors, tokens } = isRecord(json) ? json : {};
  if (Array.isArray(vectors) && vectors.length === count && vectors.every(isVector)) return { vectors, tokens };
  throw new DomainError("failed", "EXECUTION_FAILED", "the run made no vectors", { executionId });
};

const encoded = (vector: readonly number[]): string => Buffer.from(Float32Array.from(vector).buffer).toString("base64");

const embed = async (context: RunContext, asked: z.infer<typeof request>): Promise<Reply> => {
  const { model, input, encoding_format: format, user, inputs, ...parameters } = asked;
  const target = await readTarget(context.gateway, context.caller, model, "text");
  if (!target.takes(TEXTS)) throw invalidRequest([{ path: "model", message: `${model} makes no vectors` }]);
  const texts = [input].flat();
  const given = { ...target.inputsOf(parameters), ...inputs, [TEXTS]: texts };
  const { result } = await runToEnd(context, { target, inputs: given, user: user ?? undefined });
  const { vectors, tokens } = vectorsIn(result.json, texts.length, context.executionId);
  const data = vectors.map((vector, index) => ({
    ...{ object: "embedding", index },
    embedding: format === "base64" ? encoded(vector) : vector,
  }));
  const usage = typeof tokens === "number" ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {};
  return { status: 200, body: { object: "list", model, data, ...usage } };
};

export const openAiEmbeddingRoutes = [
  defineRoute({
    ...running,
    path: "/v1/embeddings",
    operationId: "openaiEmbed",
    summary: "Put texts into vectors",
    body: request,
    responses: { 200: embeddings },
    errors: RUN_ERRORS,
    example: { model: "local-embeddings", input: "A lighthouse at dusk" },
    handler: (context) => embed(context as RunContext, context.body),
  }),
];
