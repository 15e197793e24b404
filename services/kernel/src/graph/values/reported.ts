import { wellFormed } from "../../well-formed";
import { beginningOf, GRAPH_BOUNDS, textBytes } from "../bounds";

/** Outputs of a node or call, by port, as JSON. */
export interface Reported {
  outputsJson?: string;
  truncated?: true;
}

/** Per text or JSON value, in UTF-8 bytes. */
const OUTPUT_BYTES = 4_096;

/**
 * Outputs as an execution reports them; long values are cut.
 * @param outputs by port
 * @param most bytes left to report; each value has at most 4,096
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

/** Reports outputs of a run's pure nodes until their total reaches a bound. */
export const createReporter = (): ((outputs: Readonly<Record<string, unknown>>) => Reported) => {
  let left: number = GRAPH_BOUNDS.reportedBytes;
  return (outputs) => {
    const reported = reportedOutputs(outputs, left);
    left = Math.max(0, left - textBytes(reported.outputsJson!));
    return reported;
  };
};
