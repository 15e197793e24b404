import { wellFormed } from "../../errors";
import { beginningOf, GRAPH_BOUNDS, textBytes } from "../bounds";

/** What a node or a call gave, by port, as JSON. */
export interface Told {
  outputsJson?: string;
  /** Something of it was cut. */
  truncated?: true;
}

/** Texts and JSON are told up to so many bytes of UTF-8. */
const OUTPUT_BYTES = 4_096;

/**
 * What a node or a call gave, as an execution tells it: what is long is cut.
 * @param outputs by port
 * @param most bytes that may still be told; each text or JSON has 4,096 at most
 */
export const toldOutputs = (outputs: Readonly<Record<string, unknown>>, most = Infinity): Told => {
  let left = most;
  let isCut = false;
  const cut = (value: unknown): unknown => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
    const told = beginningOf(text, Math.min(OUTPUT_BYTES, left));
    left -= textBytes(told);
    if (told.length === text.length) return value;
    isCut = true;
    return wellFormed(told);
  };
  const entries = Object.entries(outputs).map(([port, value]) => [port, cut(value)] as const);
  return { outputsJson: JSON.stringify(Object.fromEntries(entries)), ...(isCut ? { truncated: true } : {}) };
};

/** Tells what the nodes of a run gave that make values of values, as long as all of it together is short enough. */
export const createTelling = (): ((outputs: Readonly<Record<string, unknown>>) => Told) => {
  let left: number = GRAPH_BOUNDS.toldBytes;
  return (outputs) => {
    const told = toldOutputs(outputs, left);
    left = Math.max(0, left - textBytes(told.outputsJson!));
    return told;
  };
};
