import type { MediaFamily } from "../values/media";
import { MASK_KEYWORD } from "../wiring/ports";
import type { JsonSchema, Price } from "../prices/price";

/** One operation of a `media` node. The kernel defines its inputs; the transform service runs it. */
export interface MediaOperation {
  /** `<modality>-<name>`, stored in `data.operation`. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** The type of the result, and the name of the node's output port. */
  readonly output: MediaFamily | "mask";
  /** `images` is the built-in image library, `ffmpeg` an optional program. */
  readonly program: "images" | "ffmpeg";
  /** JSON Schema of the inputs. Files are ports. All other inputs are settings that an edge can override. */
  readonly schema: JsonSchema;
  /** At least one input of each group is required. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Price of one call. */
  readonly price: Price;
}

/** Longest duration of a file, in seconds. */
export const MOST_SECONDS = 1_800;
/** Longest side of a generated image, in pixels. */
export const MOST_PIXELS_WIDE = 8_192;
/** Longest side of a generated video, in pixels. */
export const MOST_VIDEO_PIXELS_WIDE = 3_840;
export const MOST_FILES = 100;

/** Work on the installation's own machines is free. */
const FREE: Price = { basis: "run", microUsd: 0 };

type Properties = Readonly<Record<string, JsonSchema>>;

/** Families that operations take. None takes a 3D model. */
type OperandFamily = Exclude<MediaFamily, "model3d">;
const PLURALS: Readonly<Record<OperandFamily, string>> = { image: "Images", video: "Videos", audio: "Sounds" };

export const file = (family: OperandFamily, title: string): JsonSchema => ({
  type: "string",
  format: "media",
  contentMediaType: `${family}/*`,
  title,
});
export const mask = (title = "Mask"): JsonSchema => ({ ...file("image", title), [MASK_KEYWORD]: true });
export const fileList = (family: OperandFamily, least = 1, most = MOST_FILES): JsonSchema => ({
  type: "array",
  items: file(family, family),
  minItems: least,
  maxItems: most,
  title: PLURALS[family],
  description: "In this order.",
});
/** Adds a help sentence, shown under the label, to a schema. */
export const explained = (description: string, schema: JsonSchema): JsonSchema => ({ ...schema, description });
export const number = (minimum: number, maximum: number, title: string, fallback?: number): JsonSchema => ({
  ...{ type: "number", minimum, maximum, title },
  ...(fallback === undefined ? {} : { default: fallback }),
});
export const whole = (minimum: number, maximum: number, title: string, fallback?: number): JsonSchema => ({
  ...number(minimum, maximum, title, fallback),
  type: "integer",
});
export const choice = (options: readonly string[], title: string, fallback = options[0]!): JsonSchema => ({
  type: "string",
  enum: [...options],
  title,
  default: fallback,
});
export const flag = (title: string, fallback = false): JsonSchema => ({ type: "boolean", title, default: fallback });
export const colour = (title: string, fallback: string): JsonSchema => ({
  type: "string",
  pattern: "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$",
  title,
  default: fallback,
});
export const seconds = (title: string, fallback?: number): JsonSchema => number(0, MOST_SECONDS, title, fallback);

interface DescribedOperation extends Pick<MediaOperation, "name" | "title" | "summary" | "oneOf"> {
  required: readonly string[];
  properties: Properties;
}

/** Defines operations with one program and one output family. */
export const operationsOf =
  (output: MediaOperation["output"], program: MediaOperation["program"]) =>
  ({ required, properties, ...described }: DescribedOperation): MediaOperation => ({
    ...described,
    output,
    program,
    price: FREE,
    schema: { type: "object", required: [...required], properties },
  });
