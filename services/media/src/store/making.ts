/** Provenance: how a file was generated, and its source type. */

import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import type { SourceType } from "../marks/xmp";

export const MAKERS = ["model", "algorithm", "operation"] as const;
export type Maker = (typeof MAKERS)[number];

export interface Making {
  maker: Maker;
  model: string;
  nodeId: string;
  executionId: string;
  /** Inputs: object ids, or URLs of external files. */
  parents: string[];
  /** Settings and prompts as a JSON object, if the run allows storing them. */
  inputsJson?: string | undefined;
}

/** Texts by which a file is found. */
export interface Finding {
  /** See `searchWords`. */
  words?: string[] | undefined;
  /** The first words of the prompt. */
  title?: string | undefined;
}

const MAX_PARENTS = 50;
const MAX_NAME_CHARS = 500;
const MAX_REFERENCE_CHARS = 2_000;
const MAX_INPUTS_BYTES = 64 * 1024;

/** @throws DomainError INVALID_REQUEST for texts above their bounds */
export const checkFinding = ({ words = [], title = "" }: Finding): void => {
  const isLong = words.length > LIMITS.searchWords || [title, ...words].some((text) => text.length > LIMITS.titleChars);
  if (isLong) throw invalidRequest([{ path: "making", message: "has too many or too long words" }]);
};

/** @throws DomainError INVALID_REQUEST for values above their bounds */
export const checkMaking = ({ model, nodeId, executionId, parents, inputsJson = "" }: Making): void => {
  const isLong =
    [model, nodeId, executionId].some((name) => name.length > MAX_NAME_CHARS) ||
    parents.length > MAX_PARENTS ||
    parents.some((parent) => parent.length > MAX_REFERENCE_CHARS) ||
    Buffer.byteLength(inputsJson) > MAX_INPUTS_BYTES;
  if (isLong) throw invalidRequest([{ path: "making", message: "is too long" }]);
};

/**
 * The IPTC source type. Undefined if no model or program generated the content, for example for a cropped photo.
 * @param parents the parents that are stored here
 */
export const sourceTypeOf = (
  { maker, parents: all }: Making,
  parents: readonly { sourceType?: SourceType | undefined }[],
): SourceType | undefined => {
  const types = parents.map(({ sourceType }) => sourceType);
  const isAll = (type: SourceType): boolean => types.length === all.length && types.every((one) => one === type);
  const hasTrained = types.some((type) => type === "trainedAlgorithmicMedia" || type === "compositeWithTrainedAlgorithmicMedia");
  if (maker === "model") return isAll("trainedAlgorithmicMedia") ? "trainedAlgorithmicMedia" : "compositeWithTrainedAlgorithmicMedia";
  if (all.length > 0 && isAll("trainedAlgorithmicMedia")) return "trainedAlgorithmicMedia";
  if (hasTrained) return "compositeWithTrainedAlgorithmicMedia";
  return maker === "algorithm" || types.includes("algorithmicMedia") ? "algorithmicMedia" : undefined;
};
