import { member } from "../values/value";
import { isRecord } from "../types";
import { largestQuantity, propertySchema, quantity, type JsonSchema } from "./unit";

/** How many megapixels a picture has, by the inputs that say its size. */

export interface Megapixels {
  /** Inputs with its width and its height in pixels. */
  width?: string | undefined;
  height?: string | undefined;
  /** Instead: an input with a size, which is a name, `1024x768`, or `{width, height}`. */
  size?: string | undefined;
  /** Pixels of the sizes that have names. */
  sizes?: Readonly<Record<string, readonly [width: number, height: number]>> | undefined;
  /** The most that a picture may have; where it is absent, as many as the largest of the sizes. */
  most?: number | undefined;
  /** Pixels of what is counted as one megapixel. By default a million. */
  pixels?: number | undefined;
  /** Whether parts of a megapixel count as a whole one. */
  roundUp?: boolean | undefined;
}

const MILLION = 1_000_000;
/** As OpenAI, fal and DashScope write sizes. */
const WRITTEN_SIZE = /^(\d{1,5})[x×*:](\d{1,5})$/i;

/** The pixels of a size; undefined where they can't be known. */
const pixelsOf = ({ sizes = {} }: Megapixels, size: unknown): number | undefined => {
  if (isRecord(size)) return typeof size.width === "number" && typeof size.height === "number" ? size.width * size.height : undefined;
  if (typeof size !== "string") return undefined;
  const named = Object.hasOwn(sizes, size) ? sizes[size] : undefined;
  if (named) return named[0] * named[1];
  const [, width, height] = WRITTEN_SIZE.exec(size) ?? [];
  return width === undefined ? undefined : Number(width) * Number(height);
};

const counted = ({ pixels = MILLION, roundUp = false }: Megapixels, of: number): number => {
  const megapixels = of / pixels;
  return roundUp ? Math.ceil(megapixels) : megapixels;
};

/** Sizes that an input may have, as far as its schema lists them. */
const listedSizes = (schema: JsonSchema, name: string): readonly unknown[] => {
  const listed = propertySchema(schema, name)?.enum;
  return Array.isArray(listed) ? (listed as unknown[]) : [];
};

const most = (of: Megapixels, schema: JsonSchema): number => {
  if (of.most !== undefined) return of.most;
  if (of.size !== undefined) return counted(of, Math.max(0, ...listedSizes(schema, of.size).map((size) => pixelsOf(of, size) ?? 0)));
  return counted(of, largestQuantity(schema, of.width ?? "") * largestQuantity(schema, of.height ?? ""));
};

/** Megapixels of one picture of a call; the most it may have where the inputs don't say. */
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

/** The inputs that say how large a picture is. */
export const megapixelInputs = ({ width, height, size }: Megapixels): string[] =>
  [size, width, height].filter((name) => name !== undefined);

/** Why the size of a model's pictures can't be known before a run, or undefined. */
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
