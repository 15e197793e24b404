import { wellFormed } from "../../well-formed";
import { beginningOf, GRAPH_BOUNDS, textBytes } from "../bounds";

/** What a node or a call gave, by port, as JSON. */
export interface Reported {
  outputsJson?: string;
  /** Something of it was cut. */
  truncated?: true;
}

/** Of each text or JSON, in bytes of UTF-8. */
const OUTPUT_BYTES = 4_096;

/**
 * What a node or a call gave, as an execution reports it: what is long is cut.
 * @param outputs by port
 * @param most bytes that may still be reported; each text or JSON has 4,096 at most
 */
export const reportedOutputs = (outputs: Readonly<Record<string, unknown>>, most = Infinity): Reported => {
  let left = most;
  let isCut = false;
  const cut = (value: unknown): unknown => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
    const kept = beginningOf(text, Math.min(OUTPUT_BYTES, left));
    left -= textBytes(kept);
    if (kept.length === text.length) return value;
    isCut = true;
    return wellFormed(kept);
  };
  const entries = Object.entries(outputs).map(([port, value]) => [port, cut(value)] as const);
  return { outputsJson: JSON.stringify(Object.fromEntries(entries)), ...(isCut ? { truncated: true } : {}) };
};

/** Reports what the nodes of a run gave that make values of values, as long as all of it together is short enough. */
export const createReporter = (): ((outputs: Readonly<Record<string, unknown>>) => Reported) => {
  let left: number = GRAPH_BOUNDS.reportedBytes;
  return (outputs) => {
    const reported = reportedOutputs(outputs, left);
    left = Math.max(0, left - textBytes(reported.outputsJson!));
    return reported;
  };
};
