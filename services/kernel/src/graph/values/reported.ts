import { wellFormed } from "../../text/well-formed";
import { beginningOf, GRAPH_BOUNDS, textBytes } from "../bounds";

/** Outputs of a node or call, by port, as JSON. */
export interface ReportedOutputs {
  outputsJson?: string;
  truncated?: true;
}

/** Maximum UTF-8 bytes per text or JSON value. */
const OUTPUT_BYTES = 4_096;

/**
 * Outputs as an execution reports them. Long values are cut.
 * @param outputs values by port
 * @param most bytes that are left to report; each value has at most 4,096
 */
export const reportedOutputs = (outputs: Readonly<Record<string, unknown>>, most = Infinity): ReportedOutputs => {
  let remainingBytes = most;
  let isCut = false;
  const cut = (value: unknown): unknown => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
    const beginning = beginningOf(text, Math.min(OUTPUT_BYTES, remainingBytes));
    remainingBytes -= textBytes(beginning);
    if (beginning.length === text.length) return value;
    isCut = true;
    return wellFormed(beginning);
  };
  const entries = Object.entries(outputs).map(([port, value]) => [port, cut(value)] as const);
  return { outputsJson: JSON.stringify(Object.fromEntries(entries)), ...(isCut ? { truncated: true } : {}) };
};

/** Creates a reporter of pure nodes' outputs for one run. It stops when their total size reaches a bound. */
export const createReporter = (): ((outputs: Readonly<Record<string, unknown>>) => ReportedOutputs) => {
  let remainingBytes: number = GRAPH_BOUNDS.reportedBytes;
  return (outputs) => {
    const reported = reportedOutputs(outputs, remainingBytes);
    remainingBytes = Math.max(0, remainingBytes - textBytes(reported.outputsJson!));
    return reported;
  };
};
