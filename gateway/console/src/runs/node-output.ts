import type { Execution } from "@nodeloom/client";
import { filesIn, type OutputFile } from "../media/files-in";
import { outputsOf } from "./outputs";

/** Shown output of a node: its files, else a text. */
export interface NodeOutput {
  files: readonly OutputFile[];
  text: string | undefined;
}

/** Output of a node in a run. For workflow nodes it is the output of the last inner node; undefined if unknown. */
export const nodeOutputOf = (execution: Execution | undefined, nodeId: string): NodeOutput | undefined => {
  if (!execution) return undefined;
  const own = execution.nodes.filter(({ id }) => id === nodeId || id.startsWith(`${nodeId}/`));
  const outputs = own.map(outputsOf).findLast((one) => one !== undefined && Object.keys(one).length > 0);
  const files = filesIn(outputs);
  const [first] = Object.values(outputs ?? {});
  if (files.length > 0 || first === undefined) return { files, text: undefined };
  return { files, text: typeof first === "string" ? first : JSON.stringify(first) };
};
