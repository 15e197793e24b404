import type { Execution, NodeState } from "@nodeloom/client";
import { makesResult } from "@nodeloom/kernel/graph";
import type { FailedNode } from "./trouble/trouble";
import { edgesOf, type DocGraph } from "../document/graph";
import { filesIn, type OutputFile } from "../media/files-in";
import { nameOfNode } from "./node-name";

type Values = Readonly<Record<string, unknown>>;

export type NodeCall = NonNullable<NodeState["calls"]>[number];
type Gave = Pick<NodeState, "status" | "outputs" | "calls" | "creditsCost" | "error" | "reusedFrom">;

/** Calls of a node in order. A node without several calls is shown as one call. */
export const callsOf = ({ status, outputs, calls, creditsCost, error, reusedFrom }: Gave): readonly NodeCall[] => {
  if (calls !== undefined && calls.length > 0) return calls;
  if (status === "pending" || status === "skipped") return [];
  const gave = { ...(outputs === undefined ? {} : { outputs }), ...(reusedFrom === undefined ? {} : { reusedFrom }) };
  return [{ item: 0, status, ...gave, error, creditsCost, requestId: null }];
};

/** Failed calls of a node, with their messages. */
export const failedIn = (node: NodeState, title: string): FailedNode => ({
  id: node.id,
  ...(node.label === undefined ? {} : { label: node.label }),
  title,
  items: node.items ?? node.calls?.length ?? 1,
  failed: callsOf(node).flatMap(({ item, status, error }) => (status === "failed" && error ? [{ item, message: error.message }] : [])),
});

/** Outputs of a node by port; for several calls, lists in call order. */
export const outputsOf = (node: Gave): Values | undefined => {
  if (node.outputs !== undefined) return node.outputs;
  const gave = callsOf(node).flatMap(({ outputs }) => (outputs === undefined ? [] : [outputs]));
  if (gave.length === 0) return undefined;
  const ports = [...new Set(gave.flatMap((one) => Object.keys(one)))];
  return Object.fromEntries(ports.map((port) => [port, gave.flatMap((one) => one[port] ?? [])]));
};

/** Outputs of a run's last nodes, whose values didn't reach another node with outputs. */
export const endOutputs = (graph: DocGraph, { nodes }: Pick<Execution, "nodes">): { id: string; outputs: Values }[] => {
  const gave = new Map(
    nodes.flatMap((node) =>
      [outputsOf(node)].flatMap((outputs) => (outputs && Object.keys(outputs).length > 0 ? [[node.id, outputs] as const] : [])),
    ),
  );
  const leads = new Set(edgesOf(graph).flatMap(({ source, target }) => (gave.has(target) ? [source] : [])));
  return [...gave].flatMap(([id, outputs]) => (leads.has(id) ? [] : [{ id, outputs }]));
};

export const madeFiles = ({ nodes }: Pick<Execution, "nodes">): { id: string; name: string; files: OutputFile[] }[] =>
  nodes
    .filter(({ type }) => !makesResult(type))
    .map((node) => ({ id: node.id, name: nameOfNode(node), files: filesIn(outputsOf(node)) }))
    .filter(({ files }) => files.length > 0);
