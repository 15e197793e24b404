import { GRAPH_BOUNDS, textBytes, valueBytes } from "../bounds";
import type { Shape } from "../values/shape";
import { asText } from "../values/value";

/** What is known of an output before the run: its value, or bounds of it. */

export interface Known {
  readonly value: unknown;
}

export interface Bounds {
  list: boolean;
  /** Items that are expected: a list of unknown length counts as one. */
  items: number;
  /** Items that there may be. */
  most: number;
  /** Tokens that its text has at most. */
  tokens: number;
  /** What the value is like, where a schema says it. */
  shape?: Shape;
}

export type Abstract = Known | Bounds;

/** Tokens of a file where it becomes text: its address. */
export const URL_TOKENS = 512;

export const isKnown = (value: Abstract): value is Known => "value" in value;

/** The output of a node that can't run: it causes no further issues. */
export const ANYTHING: Bounds = { list: false, items: 1, most: 1, tokens: 0 };

/** A token is at least one byte, so the bytes of a text bound its tokens. */
export const tokensOf = (value: unknown): number => textBytes(asText(value));

/** Remembers a measure of each known value, because one value may flow to many nodes. */
const measured = (measure: (value: unknown) => number): ((known: Known) => number) => {
  const taken = new WeakMap<Known, number>();
  return (known) => {
    const size = taken.get(known) ?? measure(known.value);
    taken.set(known, size);
    return size;
  };
};

/** Bytes of a known value as JSON; counting stops beyond what a plan may have. */
export const knownBytes = measured((value) => valueBytes(value, GRAPH_BOUNDS.planBytes));
const knownTokens = measured(tokensOf);

const boundsOf = (source: Abstract): Bounds => {
  if (!isKnown(source)) return source;
  const list = Array.isArray(source.value);
  const items = list ? (source.value as unknown[]).length : 1;
  return { list, items, most: items, tokens: knownTokens(source) };
};

/** How many items and tokens may flow into one port, from all its sources together. */
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
