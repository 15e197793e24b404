import type { Execution } from "@nodeloom/client";
import { isRecord } from "@nodeloom/kernel/graph";
import { edgesOf, type DocGraph, type DocNode } from "../document/graph";
import { carriedValue } from "./took/took";

type Nodes = ReadonlyMap<string, Execution["nodes"][number]>;

const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)\s*\}\}/gu;
const asText = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));

/** Value for one call: its list element, or a value that all calls share. */
const ofItem = (value: unknown, item: number, calls: number): unknown =>
  Array.isArray(value) && value.length === calls && calls > 0 ? (value as unknown[])[item] : value;

/** Value of a port in a run. */
const flowed = (graph: DocGraph, nodes: Nodes, inputs: Execution["inputs"], node: DocNode, port: string): unknown => {
  const edge = edgesOf(graph).find((one) => one.target === node.id && one.targetHandle === port);
  return edge && carriedValue(graph, { nodes, inputs }, edge);
};

/** Text of one call: its element of a list. */
const ownText = (
  graph: DocGraph,
  nodes: Nodes,
  inputs: Execution["inputs"],
  node: DocNode,
  item: number,
  calls: number,
): string | undefined =>
  edgesOf(graph)
    .filter(({ target }) => target === node.id)
    .map((edge) => carriedValue(graph, { nodes, inputs }, edge))
    .filter((value) => Array.isArray(value) && value.length === calls)
    .map((value) => (value as unknown[])[item])
    .find((one): one is string => typeof one === "string" && one.trim() !== "");

/** Settings and prompt of a call that the run and the graph show. */
export const recipeOf = (
  graph: DocGraph,
  node: DocNode,
  { nodes, inputs }: { nodes: Nodes; inputs: Execution["inputs"] },
  item: number,
): { model: string | undefined; prompt: string | undefined; value: string | undefined; settings: [string, string][] } => {
  const progress = nodes.get(node.id);
  const calls = progress?.items ?? 1;
  const own = isRecord(node.data.inputs) ? node.data.inputs : {};
  const at = (port: string): unknown => ofItem(flowed(graph, nodes, inputs, node, port), item, calls);
  const filled = (text: string): string => text.replace(PLACEHOLDER, (whole, name: string) => asText(at(name) ?? own[name]) || whole);
  const prompt = at("prompt") ?? own.prompt ?? node.data.prompt;
  const settings = Object.entries(own).flatMap(([name, value]): [string, string][] =>
    name === "prompt" || value === "" || value === null ? [] : [[name, asText(value)]],
  );
  return {
    model: typeof node.data.model === "string" ? node.data.model : undefined,
    prompt: prompt === undefined ? undefined : filled(asText(prompt)),
    value: calls > 1 ? ownText(graph, nodes, inputs, node, item, calls) : undefined,
    settings,
  };
};
