import { member } from "../values/value";
import { isRecord } from "../types";
import { largestQuantity, propertySchema, quantity, type JsonSchema } from "./unit";

/** How a price counts the megapixels of an image, from the inputs for its size. */

export interface Megapixels {
  /** Names of the inputs for width and height, in pixels. */
  width?: string | undefined;
  height?: string | undefined;
  /** Alternatively, the name of an input with a size: a name, a text such as `1024x768`, or `{width, height}`. */
  size?: string | undefined;
  /** Pixels of named sizes. */
  sizes?: Readonly<Record<string, readonly [width: number, height: number]>> | undefined;
  /** Maximum megapixels per image; by default those of the largest named size. */
  most?: number | undefined;
  /** Pixels per charged megapixel; one million by default. */
  pixels?: number | undefined;
  /** Set to round fractions of a megapixel up. */
  roundUp?: boolean | undefined;
}

const MILLION = 1_000_000;
/** Notation of OpenAI, fal and DashScope. */
const WRITTEN_SIZE = /^(\d{1,5})[x×*:](\d{1,5})$/i;

/** Pixels of a size; undefined if unknown. */
const pixelsOf = ({ sizes = {} }: Megapixels, size: unknown): number | undefined => {
  if (isRecord(size)) return typeof size.width === "number" && typeof size.height === "number" ? size.width * size.height : undefined;
  if (typeof size !== "string") return undefined;
  const namedSize = Object.hasOwn(sizes, size) ? sizes[size] : undefined;
  if (namedSize) return namedSize[0] * namedSize[1];
  const [, width, height] = WRITTEN_SIZE.exec(size) ?? [];
  return width === undefined ? undefined : Number(width) * Number(height);
};

const counted = ({ pixels = MILLION, roundUp = false }: Megapixels, of: number): number => {
  const megapixels = of / pixels;
  return roundUp ? Math.ceil(megapixels) : megapixels;
};

/** Sizes that the schema lists for an input. */
const listedSizes = (schema: JsonSchema, name: string): readonly unknown[] => {
  const listed = propertySchema(schema, name)?.enum;
  return Array.isArray(listed) ? (listed as unknown[]) : [];
};

const most = (of: Megapixels, schema: JsonSchema): number => {
  if (of.most !== undefined) return of.most;
  if (of.size !== undefined) return counted(of, Math.max(0, ...listedSizes(schema, of.size).map((size) => pixelsOf(of, size) ?? 0)));
  return counted(of, largestQuantity(schema, of.width ?? "") * largestQuantity(schema, of.height ?? ""));
};

/** Megapixels of one image; an upper bound if the inputs don't define its size. */
export const megapixelsOf = (
  of: Megapixels,
  schema: JsonSchema,
  inputs: Readonly<Record<string, unknown>>,
  unknown: ReadonlySet<string>,
): number => {
  const names = megapixelInputs(of);
  if (names.some((name) => unknown.has(name))) return most(of, schema);
  if (of.size === undefined) return counted(of, quantity(schema, of.width ?? "", inputs) * quantity(schema, of.height ?? "", inputs));
  const pixels = pixelsOf(of, member(inputs, of.size) ?? propertySchema(schema, of.size)?.default);
  return pixels === undefined ? most(of, schema) : counted(of, pixels);
};

export const megapixelInputs = ({ width, height, size }: Megapixels): string[] =>
  [size, width, height].filter((name) => name !== undefined);

/** The reason why image sizes are unknown before a run, or undefined. */
export const megapixelsProblem = (of: Megapixels, schema: JsonSchema): string | undefined => {
  const { size, width, height } = of;
  if ((size === undefined) === (width === undefined) || (width === undefined) !== (height === undefined))
    return 'megapixels: must name the input of the "size", or those of "width" and "height"';
  const missing = megapixelInputs(of).find((name) => !propertySchema(schema, name));
  if (missing !== undefined) return `megapixels: there is no input "${missing}"`;
  if (of.most !== undefined) return undefined;
  if (size === undefined) {
    const unbounded = [width!, height!].find((name) => {
      const property = propertySchema(schema, name);
      return typeof property?.maximum !== "number" || typeof property.default !== "number";
    });
    return unbounded && `megapixels: the input "${unbounded}" needs a default and a maximum, or megapixels a "most"`;
  }
  const listed = listedSizes(schema, size);
  if (listed.length === 0) return `megapixels: the input "${size}" must list its sizes (enum), or megapixels have a "most"`;
  const strange = listed.find((one) => pixelsOf(of, one) === undefined);
  return strange === undefined ? undefined : `megapixels: sizes: must say how many pixels ${JSON.stringify(strange)} has`;
};
