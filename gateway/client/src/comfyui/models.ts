import { isRecord, listOf } from "./graph";

/** Chooses models for imported nodes, and fits values to their inputs. */

/** Members of a model that the import reads; models of the API have them. */
export interface ImportModel {
  internalName: string;
  displayName?: string;
  modality: string;
  enabled?: boolean;
  inputSchema?: unknown;
}
type Schema = Record<string, unknown>;

const MEDIA_KEYWORD = "contentMediaType";

export const propertiesOf = (model: ImportModel | undefined): Record<string, Schema> | undefined => {
  const properties = isRecord(model?.inputSchema) ? model.inputSchema.properties : undefined;
  return isRecord(properties) ? (properties as Record<string, Schema>) : undefined;
};

/** Inputs of a model that accept one file of a kind. */
export const fileInputs = (model: ImportModel | undefined, kind: string): string[] =>
  Object.entries(propertiesOf(model) ?? {}).flatMap(([name, schema]) =>
    isRecord(schema) && String(schema[MEDIA_KEYWORD] ?? "").startsWith(`${kind}/`) && name !== "mask" ? [name] : [],
  );

/** The first model of a modality that takes text, and the files if there are any. 3D models are also made of pictures alone. */
export const chooseModel = (models: readonly ImportModel[], modality: string, files: readonly string[]): ImportModel | undefined => {
  const fitting = models.filter(
    (model) => model.enabled !== false && model.modality === modality && (modality === "model3d" || propertiesOf(model)?.prompt),
  );
  const takes = (model: ImportModel): boolean => files.every((kind) => fileInputs(model, kind).length > 0);
  const needs = (model: ImportModel): boolean => requiredOf(model).some((name) => name !== "prompt");
  return (
    fitting.find((model) => takes(model) && (files.length > 0 || !needs(model))) ?? fitting.find((model) => !needs(model)) ?? fitting[0]
  );
};
const requiredOf = ({ inputSchema }: ImportModel): unknown[] => (isRecord(inputSchema) ? [...listOf(inputSchema.required)] : []);

/** A number within the bounds of an input; undefined if the model has no such input. */
export const fitted = (model: ImportModel | undefined, name: string, value: number): number | undefined => {
  const schema = propertiesOf(model)?.[name];
  if (!schema) return undefined;
  const choices = listOf(schema.enum).filter((one): one is number => typeof one === "number");
  if (choices.length > 0) return choices.reduce((best, one) => (Math.abs(one - value) < Math.abs(best - value) ? one : best));
  const [least, most] = [schema.minimum, schema.maximum].map((bound) => (typeof bound === "number" ? bound : undefined));
  const whole = schema.type === "integer" ? Math.round(value) : value;
  return Math.max(least ?? -Infinity, Math.min(most ?? Infinity, whole));
};

const NAMED_SHAPES: readonly (readonly [RegExp, number])[] = [
  [/^square/, 1],
  [/^landscape_4_3$/, 4 / 3],
  [/^landscape_16_9$/, 16 / 9],
  [/^portrait_4_3$/, 3 / 4],
  [/^portrait_16_9$/, 9 / 16],
];
const shapeOf = (choice: string): number | undefined => {
  const [, width, height] = /^(\d{1,5})[x:*](\d{1,5})$/.exec(choice) ?? [];
  return width === undefined ? NAMED_SHAPES.find(([name]) => name.test(choice))?.[1] : Number(width) / Number(height);
};
const SHAPE_INPUTS = ["aspect_ratio", "ratio", "size", "image_size"];
/** Aspect ratios that differ by less look alike. */
const ALIKE = 0.2;

/** The model's option whose aspect ratio is nearest to a size. */
export const fittedShape = (model: ImportModel | undefined, width: number, height: number): Record<string, string> | undefined => {
  const properties = propertiesOf(model);
  for (const name of SHAPE_INPUTS) {
    const choices = listOf(properties?.[name]?.enum).filter((one): one is string => typeof one === "string");
    const far = (choice: string): number => Math.abs(Math.log((shapeOf(choice) ?? Infinity) / (width / height)));
    const [nearest] = choices.filter((choice) => far(choice) < ALIKE).toSorted((a, b) => far(a) - far(b));
    if (nearest !== undefined) return { [name]: nearest };
  }
  return undefined;
};
