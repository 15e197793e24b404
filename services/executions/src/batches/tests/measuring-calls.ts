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

type FileInputs = readonly [list: string, single: string];
const PICTURES: FileInputs = ["images", "image"];
const SOUNDS: FileInputs = ["audios", "audio"];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns the model's input for the files. @throws DomainError if it doesn't take so many */
const inputFor = (model: CatalogModel, [list, single]: FileInputs, count: number, noun: string): string | undefined => {
  if (count === 0) return undefined;
  const properties = propertiesOf(model);
  const several = properties[list];
  const most = several ? (typeof several.maxItems === "number" ? several.maxItems : Infinity) : properties[single] ? 1 : 0;
  if (count <= most) return several ? list : single;
  const takes = most === 0 ? `no ${noun}s` : `at most ${counted(most, noun)}`;
  const message = `the judge would get ${counted(count, noun)}, and ${model.internalName} takes ${takes}: choose another model`;
  throw new DomainError("invalid", "INVALID_INPUTS", message);
};

const filesFor = (input: string | undefined, urls: readonly string[]): Record<string, unknown> =>
  input === undefined ? {} : { [input]: input.endsWith("s") ? urls : urls[0] };

/** Returns the address of a picture of a video's frames. */
export type ShowVideo = (url: string) => Promise<string>;

/** @throws DomainError if there is no such language model, or if it can't see or hear the files */
export const judgeCall = async (
  catalog: Pick<ModelCatalog, "get">,
  question: JudgeQuestion,
  showVideo: ShowVideo,
): Promise<MeasuringCall> => {
  const { system, prompt, pictures, sounds, schema } = question;
  const model = await catalog.get(question.model);
  if (model.modality !== "text" || model.providerKind !== "llm")
    throw new DomainError("invalid", "INVALID_INPUTS", `${model.internalName} is not a language model`);
  const { system: takesSystem, maxTokens } = propertiesOf(model);
  const pictureInput = inputFor(model, PICTURES, pictures.length, "picture");
  const soundInput = inputFor(model, SOUNDS, sounds.length, "sound");
  const visible = await Promise.all(pictures.map(({ url, isVideo }) => (isVideo ? showVideo(url) : Promise.resolve(url))));
  const most = isRecord(maxTokens) && typeof maxTokens.maximum === "number" ? maxTokens.maximum : Infinity;
  const inputs = {
    ...(takesSystem ? { system, prompt } : { prompt: `${system}\n\n${prompt}` }),
    ...(maxTokens ? { maxTokens: Math.min(ANSWER_TOKENS, most) } : {}),
    ...filesFor(pictureInput, visible),
    ...filesFor(soundInput, sounds),
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
