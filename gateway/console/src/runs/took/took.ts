import type { Execution, NodeState } from "@nodeloom/client";
import { fieldsOf, isBypassed, isRecord } from "@nodeloom/kernel/graph";
import { kindOf } from "../../canvas/kinds";
import { edgesOf, nodeById, type DocEdge, type DocGraph, type DocNode } from "../../document/graph";
import { nameOfNode } from "../node-name";
import { outputsOf } from "../outputs";

/** Inputs of a run's nodes, derived from the graph and earlier nodes' outputs. */

export interface Ran {
  nodes: ReadonlyMap<string, NodeState>;
  inputs: Execution["inputs"];
}

/** Value of a link in a run: its source's output, or else the sent input; undefined if unknown. */
export const carriedValue = (graph: DocGraph, { nodes, inputs }: Ran, { source, sourceHandle }: DocEdge): unknown => {
  const state = nodes.get(source);
  if (!state) return undefined;
  const gave = outputsOf(state);
  if (sourceHandle !== null && gave && Object.hasOwn(gave, sourceHandle)) return gave[sourceHandle];
  const origin = nodeById(graph, source);
  const field = origin && fieldsOf(origin.data).find(({ name }) => name === sourceHandle);
  return field ? (inputs?.[field.name] ?? field.default) : gave && Object.values(gave)[0];
};

export interface Took {
  port: string;
  /** Name of the source node. */
  from: string;
  value: unknown;
}

/** Inputs of a node in the order of its links. */
export const tookOf = (graph: DocGraph, ran: Ran, nodeId: string): Took[] =>
  edgesOf(graph).flatMap((edge): Took[] => {
    if (edge.target !== nodeId) return [];
    const [value, state] = [carriedValue(graph, ran, edge), ran.nodes.get(edge.source)];
    if (value === undefined || !state) return [];
    return [{ port: edge.targetHandle ?? edge.sourceHandle ?? "value", from: nameOfNode(state), value }];
  });

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** A node's own settings as texts: the settings of its kind, and the inputs of its model. */
export const hadSettings = (node: DocNode): [name: string, value: string][] => {
  if (isBypassed(node)) return [["bypass", "on"]];
  const settingRules = kindOf(node.type).rules?.settings ?? {};
  const { inputs, ...data } = node.data;
  const own = Object.entries(data).filter(([name]) => name === "model" || (Object.hasOwn(settingRules, name) && name !== "ports"));
  return [...own, ...(isRecord(inputs) ? Object.entries(inputs) : [])].flatMap(([name, value]): [string, string][] =>
    isSet(value) ? [[name, asText(value)]] : [],
  );
};
