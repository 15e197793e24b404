import { GRAPH_BOUNDS, textBytes, valueBytes } from "../bounds";
import type { Shape } from "../values/shape";
import { asText } from "../values/value";

/** Facts about an output before the run: its value, or bounds on it. */

export interface KnownValue {
  readonly value: unknown;
}

export interface Bounds {
  list: boolean;
  /** Expected number of items. A list of unknown length counts as one. */
  items: number;
  /** Upper bound on the number of items. */
  most: number;
  /** Upper bound on the tokens of its text. */
  tokens: number;
  /** The shape of the value, if a schema defines it. */
  shape?: Shape;
}

export type Abstract = KnownValue | Bounds;

/** Upper bound on the tokens of a file's URL, which is the file's text form. */
export const URL_TOKENS = 512;

export const isKnown = (value: Abstract): value is KnownValue => "value" in value;

/** Output of a node that can't run. It causes no further issues. */
export const ANYTHING: Bounds = { list: false, items: 1, most: 1, tokens: 0 };

/** A token is at least one byte, so the bytes of a text bound its tokens. */
export const tokensOf = (value: unknown): number => textBytes(asText(value));

/** Caches a measure per known value, because one value can flow to many nodes. */
const measured = (measure: (value: unknown) => number): ((knownValue: KnownValue) => number) => {
  const sizes = new WeakMap<KnownValue, number>();
  return (knownValue) => {
    const size = sizes.get(knownValue) ?? measure(knownValue.value);
    sizes.set(knownValue, size);
    return size;
  };
};

/** JSON bytes of a known value. Counting stops above the bound of a plan. */
export const knownBytes = measured((value) => valueBytes(value, GRAPH_BOUNDS.planBytes));
const knownTokens = measured(tokensOf);

const boundsOf = (source: Abstract): Bounds => {
  if (!isKnown(source)) return source;
  const list = Array.isArray(source.value);
  const items = list ? (source.value as unknown[]).length : 1;
  return { list, items, most: items, tokens: knownTokens(source) };
};

/** Upper bounds of items and tokens at a port, over all its sources. */
export const joined = (sources: readonly Abstract[]): Bounds => {
  const each = sources.map(boundsOf);
  const sum = (of: (bounds: Bounds) => number): number => each.reduce((total, bounds) => total + of(bounds), 0);
  return {
    list: sources.length > 1 || each.some((source) => source.list),
    items: sum(({ items }) => items),
    most: sum(({ most }) => most),
    tokens: sum(({ tokens }) => tokens),
  };
};
