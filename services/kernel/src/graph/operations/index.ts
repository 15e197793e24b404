import type { Issue } from "../../errors";
import { createInputCheck } from "../json-schema";
import { isRecord } from "../types";
import { AUDIO_OPERATIONS } from "./audio";
import { IMAGE_OPERATIONS } from "./image";
import { MASK_OPERATIONS } from "./mask";
import type { MediaOperation } from "./operation";
import { VIDEO_OPERATIONS } from "./video";

export * from "./geometry";
export { drawShapes, ShapesError, shapesProblem } from "./mask-drawing";
export { MASK_SHAPES, type MaskShape } from "./mask-shapes";
export { MOST_FILES, MOST_PIXELS_WIDE, MOST_SECONDS, MOST_VIDEO_PIXELS_WIDE, type MediaOperation } from "./operation";

export const MEDIA_OPERATIONS: readonly MediaOperation[] = [
  ...IMAGE_OPERATIONS,
  ...MASK_OPERATIONS,
  ...VIDEO_OPERATIONS,
  ...AUDIO_OPERATIONS,
];

const BY_NAME = new Map(MEDIA_OPERATIONS.map((operation) => [operation.name, operation]));
export const mediaOperation = (name: unknown): MediaOperation | undefined => (typeof name === "string" ? BY_NAME.get(name) : undefined);

type Inputs = Readonly<Record<string, unknown>>;

const checks = new Map<string, (value: unknown) => Issue[]>();

/** Problems of an operation's inputs, found by its schema. */
export const operationIssues = ({ name, schema }: MediaOperation, inputs: Inputs): Issue[] => {
  const check = checks.get(name) ?? createInputCheck(schema);
  checks.set(name, check);
  return check(inputs);
};

/** Problems for each group of inputs in which no input is set. */
export const missingGroups = ({ oneOf = [] }: MediaOperation, isGiven: (name: string) => boolean): string[] =>
  oneOf.filter((names) => !names.some(isGiven)).map((names) => `needs ${names.length > 1 ? "one of " : ""}${names.join(", ")}`);

/** Returns the inputs with the schema's defaults filled in. */
export const withDefaults = ({ schema }: Pick<MediaOperation, "schema">, inputs: Inputs): Record<string, unknown> => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isRecord(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  const presentInputs = Object.entries(inputs).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return { ...Object.fromEntries(defaults), ...Object.fromEntries(presentInputs) };
};
