import type { MediaFamily } from "../values/media";
import type { JsonSchema, Price } from "../prices/price";

/** One thing that a `media` node can do: the kernel says what it takes, the service transform does it. */
export interface MediaOperation {
  /** `data.operation`: `<modality>-<name>`. */
  readonly name: string;
  readonly title: string;
  /** What it does, in a sentence. */
  readonly summary: string;
  /** What it makes; the name of the node's output port, too. */
  readonly output: MediaFamily;
  /** What it needs to be there: the image library, which always is, or ffmpeg. */
  readonly program: "images" | "ffmpeg";
  /** Its inputs as a JSON Schema: files are ports, all else are settings that may be connected as well. */
  readonly schema: JsonSchema;
  /** Of each group at least one input is needed. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Of one call. */
  readonly price: Price;
}

/** The most a file, or what is made of some, may last, in seconds. */
export const MOST_SECONDS = 1_800;
/** The longest side of a picture that is made, in pixels. */
export const MOST_PIXELS_WIDE = 8_192;
/** The same of a video. */
export const MOST_VIDEO_PIXELS_WIDE = 3_840;
/** Files of one list. */
export const MOST_FILES = 100;

/** Nothing is charged for what the installation's own machine does. */
const FREE: Price = { basis: "run", microUsd: 0 };

type Properties = Readonly<Record<string, JsonSchema>>;

const PLURALS = { image: "images", video: "videos", audio: "sounds" } as const;

export const file = (family: MediaFamily, title: string): JsonSchema => ({
  type: "string",
  format: "media",
  contentMediaType: `${family}/*`,
  title,
});
export const fileList = (family: MediaFamily, least = 1, most = MOST_FILES): JsonSchema => ({
  type: "array",
  items: file(family, family),
  minItems: least,
  maxItems: most,
  title: `${PLURALS[family]}, in order`,
});
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

interface Described extends Pick<MediaOperation, "name" | "title" | "summary" | "oneOf"> {
  required: readonly string[];
  properties: Properties;
}

/** Operations of one program that make one family of files. */
export const operationsOf =
  (output: MediaFamily, program: MediaOperation["program"]) =>
  ({ required, properties, ...described }: Described): MediaOperation => ({
    ...described,
    output,
    program,
    price: FREE,
    schema: { type: "object", required: [...required], properties },
  });
