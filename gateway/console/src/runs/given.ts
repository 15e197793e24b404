import type { Execution } from "@nodeloom/client";
import { filesIn, type OutputFile } from "../media/files-in";
import { outputsOf } from "./outputs";

/** What is shown of what a node gave: its files, else a text. */
export interface Given {
  files: readonly OutputFile[];
  text: string | undefined;
}

/** What a node gave in a run; of one that stands for a workflow, what the last node inside gave. Undefined where it is not known. */
export const givenBy = (execution: Execution | undefined, nodeId: string): Given | undefined => {
  if (!execution) return undefined;
  const own = execution.nodes.filter(({ id }) => id === nodeId || id.startsWith(`${nodeId}/`));
  const outputs = own.map(outputsOf).findLast((one) => one !== undefined && Object.keys(one).length > 0);
  const files = filesIn(outputs);
  const [first] = Object.values(outputs ?? {});
  if (files.length > 0 || first === undefined) return { files, text: undefined };
  return { files, text: typeof first === "string" ? first : JSON.stringify(first) };
};
