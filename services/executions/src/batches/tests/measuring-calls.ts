/** Direct runs of models that measure results: judges, and text recognition. */
import { createHash } from "node:crypto";
import { DomainError, fromCredits, isRecord, toCredits, type JsonSchema, type JudgeQuestion } from "@nodeloom/kernel";
import { derivedId } from "@nodeloom/platform";
import type { CatalogModel, ModelCatalog } from "../../plan/model-catalog";

/** The model that reads text in pictures. */
const TEXT_MODEL = "local-ocr";
/** Longest answer of a judge in tokens. A model that thinks needs more than its answer. */
const ANSWER_TOKENS = 2_048;

export interface MeasuringCall {
  model: string;
  inputsJson: string;
  schemaJson: string;
}

const propertiesOf = ({ inputSchema }: CatalogModel): Record<string, JsonSchema> =>
  isRecord(inputSchema.properties) ? (inputSchema.properties as Record<string, JsonSchema>) : {};

/** @throws DomainError if the model doesn't take the pictures */
const pictureInputs = (model: CatalogModel, pictures: readonly string[]): Record<string, unknown> => {
  if (pictures.length === 0) return {};
  const { image, images } = propertiesOf(model);
  const most = images ? (typeof images.maxItems === "number" ? images.maxItems : Infinity) : image ? 1 : 0;
  if (pictures.length > most) {
    const takes = most === 0 ? "no pictures" : `at most ${most} ${most === 1 ? "picture" : "pictures"}`;
    const message = `the judge would see ${pictures.length} pictures, and ${model.internalName} takes ${takes}`;
    throw new DomainError("invalid", "INVALID_INPUTS", message);
  }
  return images ? { images: pictures } : { image: pictures[0] };
};

/** @throws DomainError if there is no such language model, or if it can't see the pictures */
export const judgeCall = async (catalog: Pick<ModelCatalog, "get">, question: JudgeQuestion): Promise<MeasuringCall> => {
  const { system, prompt, pictures, schema } = question;
  const model = await catalog.get(question.model);
  if (model.modality !== "text" || model.providerKind !== "llm")
    throw new DomainError("invalid", "INVALID_INPUTS", `${model.internalName} is not a language model`);
  const { system: takesSystem, maxTokens } = propertiesOf(model);
  const most = isRecord(maxTokens) && typeof maxTokens.maximum === "number" ? maxTokens.maximum : Infinity;
  const inputs = {
    ...(takesSystem ? { system, prompt } : { prompt: `${system}\n\n${prompt}` }),
    ...(maxTokens ? { maxTokens: Math.min(ANSWER_TOKENS, most) } : {}),
    ...pictureInputs(model, pictures),
  };
  return { model: model.internalName, inputsJson: JSON.stringify(inputs), schemaJson: JSON.stringify(schema) };
};

export const textCall = (url: string): MeasuringCall => ({ model: TEXT_MODEL, inputsJson: JSON.stringify({ image: url }), schemaJson: "" });

/** Equal calls of a test's run have equal ids, so each is made once. @param executionId of the test's run */
export const callId = (executionId: string, { model, inputsJson, schemaJson }: MeasuringCall): string => {
  const digest = createHash("sha256")
    .update(JSON.stringify([model, inputsJson, schemaJson]))
    .digest("hex");
  return derivedId("test-measurement", executionId, digest);
};

/**
 * The part of a test's `maxCredits` that its judges haven't used.
 * @returns millicredits; undefined if the test has no limit
 * @throws DomainError if nothing is left
 */
export const restOf = (maxCredits: number | undefined, spent: number): number | undefined => {
  if (maxCredits === undefined) return undefined;
  const rest = fromCredits(maxCredits) - spent;
  if (rest > 0) return rest;
  throw new DomainError("exhausted", "BUDGET_EXCEEDED", `the test's judges have cost ${toCredits(spent)} of its maxCredits ${maxCredits}`);
};
