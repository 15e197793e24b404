import { callsTransform, makesCalls, makesResult, mediaOperation } from "@nodeloom/kernel/graph";
import type { DocNode } from "../../document/graph";
import type { NodeProgress } from "../../runs/live";
import { plainWords } from "../../runs/answers/words";
import { filesIn, valuesIn, type OutputFile } from "../../media/files-in";
import { callsOf, outputsOf, type NodeCall } from "../../runs/outputs";

/** One finished or pending output of a node. */
export interface ShownItem {
  /** Index among the node's calls. */
  item: number;
  status: NodeCall["status"];
  file: OutputFile | undefined;
  text: string | undefined;
  creditsCost: number;
  error: string | undefined;
  /** While the item is awaited: the file that an earlier run has at its place. */
  earlier?: OutputFile | undefined;
}

const textOf = (outputs: Readonly<Record<string, unknown>>): string | undefined => {
  const [first] = valuesIn(outputs).toSorted(([a], [b]) => Number(b === "json") - Number(a === "json"));
  if (!first) return undefined;
  return plainWords(first[1]);
};

/** True if the files of a node are masks; its calls return them as images. */
const makesMasks = ({ type, data }: DocNode): boolean => callsTransform(type) && mediaOperation(data.operation)?.output === "mask";

const asMask = (item: ShownItem): ShownItem => (item.file ? { ...item, file: { ...item.file, isMask: true } } : item);

/** Outputs of a call: its files, else its text, else a placeholder. */
const itemsOfCall = (call: NodeCall): ShownItem[] => {
  const plain = { item: call.item, status: call.status, creditsCost: call.creditsCost, error: call.error?.message };
  const files = filesIn(call.outputs);
  if (files.length > 0) return files.map((file) => ({ ...plain, file, text: undefined }));
  return [{ ...plain, file: undefined, text: call.outputs && textOf(call.outputs) }];
};

/** Outputs of a node in a run, one per existing or expected call. */
export const itemsOf = (node: DocNode, progress: NodeProgress, result: Readonly<Record<string, unknown>> | undefined): ShownItem[] => {
  if (makesResult(node.type)) {
    const files = filesIn(outputsOf(progress) ?? result);
    return files.map((file, item) => ({ item, status: "completed", file, text: undefined, creditsCost: 0, error: undefined }));
  }
  if (!makesCalls(node.type)) {
    const gave = outputsOf(progress);
    return filesIn(gave).map((file, item) => ({ item, status: "completed", file, text: undefined, creditsCost: 0, error: undefined }));
  }
  const calls = callsOf(progress);
  const outputs = calls.flatMap(itemsOfCall);
  const callItems = makesMasks(node) ? outputs.map(asMask) : outputs;
  const seenItems = new Set(calls.map(({ item }) => item));
  const isGoing = progress.status === "processing";
  const waiting = Array.from({ length: isGoing ? (progress.items ?? 1) : 0 }, (_, item) => item).filter((item) => !seenItems.has(item));
  return [
    ...callItems,
    ...waiting.map((item): ShownItem => ({
      item,
      status: "processing",
      file: undefined,
      text: undefined,
      creditsCost: 0,
      error: undefined,
    })),
  ].sort((a, b) => a.item - b.item);
};
