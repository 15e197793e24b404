import type { Execution } from "@nodeloom/client";
import { nodesOf, type DocGraph } from "../document/graph";
import { filesIn } from "../media/files-in";
import { unsigned } from "../media/url";
import { callsOf } from "./outputs";
import { recipeOf } from "./recipe";

type Ran = Pick<Execution, "nodes" | "inputs">;

/** Prompts of a run's files by the files' addresses. Files made without a prompt, such as crops, are omitted. */
export const promptsOf = (graph: DocGraph, { nodes: ran, inputs }: Ran): ReadonlyMap<string, string> => {
  const nodes = new Map(ran.map((node) => [node.id, node]));
  return new Map(
    nodesOf(graph).flatMap((node) => {
      const progress = nodes.get(node.id);
      if (!progress) return [];
      return callsOf(progress).flatMap(({ item, outputs }) => {
        const { prompt } = recipeOf(graph, node, { nodes, inputs }, item);
        return prompt === undefined || prompt === "" ? [] : filesIn(outputs).map(({ url }): [string, string] => [unsigned(url), prompt]);
      });
    }),
  );
};
