import { compatible, defaultInput, inputPort, outputPorts } from "./ports";
import type { JsonSchema } from "./price";
import { isNodeType, type Graph, type GraphEdge, type GraphIssue, type GraphNode } from "./types";

/** Edges by target node and port, in edge order, and the nodes in dependency order. Notes are left out. */
export interface Wiring {
  order: GraphNode[];
  inputs: Map<string, Map<string, { node: string; port: string }[]>>;
}

type SchemaOf = (node: GraphNode) => JsonSchema | undefined;

const connect = (edge: GraphEdge, nodes: ReadonlyMap<string, GraphNode>, schemaOf: SchemaOf, wiring: Wiring): string | undefined => {
  const [from, to] = [nodes.get(edge.source), nodes.get(edge.target)];
  if (!from) return `an edge comes from ${edge.source}, which does not exist`;
  if (!to) return `an edge goes to ${edge.target}, which does not exist`;
  if (from.type === "note" || to.type === "note" || !isNodeType(from.type) || !isNodeType(to.type)) return undefined;
  const outputs = outputPorts(from);
  const port = edge.sourceHandle ?? [...outputs.keys()][0] ?? "";
  const outputType = outputs.get(port);
  if (outputType === undefined) return `${from.id} has no output ${port || "at all"}`;
  const name = edge.targetHandle ?? defaultInput(to, port);
  const input = inputPort(to, name, schemaOf(to));
  if (!input) return `${to.id} has no input ${name}`;
  if (!compatible(outputType, input.type))
    return `${from.id}.${port} is ${outputType} and can't flow into ${to.id}.${name}, which takes ${input.type}`;
  const ports = wiring.inputs.get(to.id) ?? new Map<string, { node: string; port: string }[]>();
  wiring.inputs.set(to.id, ports.set(name, [...(ports.get(name) ?? []), { node: from.id, port }]));
  return undefined;
};

/** Kahn's algorithm, stable in node order. What is left over is on a cycle or behind one. */
const dependencyOrder = (nodes: readonly GraphNode[], inputs: Wiring["inputs"]): { order: GraphNode[]; stuck: GraphNode[] } => {
  const waiting = new Map(
    nodes.map((node) => [node.id, new Set([...(inputs.get(node.id)?.values() ?? [])].flat().map((edge) => edge.node))]),
  );
  const dependents = new Map<string, string[]>();
  for (const [id, sources] of waiting) for (const from of sources) dependents.set(from, [...(dependents.get(from) ?? []), id]);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const order = nodes.filter((node) => waiting.get(node.id)!.size === 0);
  for (let index = 0; index < order.length; index += 1) {
    const done = order[index]!.id;
    for (const id of dependents.get(done) ?? []) {
      const left = waiting.get(id)!;
      left.delete(done);
      if (left.size === 0) order.push(byId.get(id)!);
    }
  }
  const placed = new Set(order);
  return { order, stuck: nodes.filter((node) => !placed.has(node)) };
};

/** Nodes that really are on a cycle: stuck, and reachable from themselves through stuck nodes. */
const onCycle = (stuck: readonly GraphNode[], inputs: Wiring["inputs"]): GraphNode[] => {
  const remaining = new Set(stuck.map((node) => node.id));
  const feeds = (id: string): boolean =>
    [...remaining].some((other) => [...(inputs.get(other)?.values() ?? [])].flat().some((edge) => edge.node === id));
  for (let shrinking = true; shrinking;) {
    const loose = [...remaining].filter((id) => !feeds(id));
    for (const id of loose) remaining.delete(id);
    shrinking = loose.length > 0;
  }
  return stuck.filter((node) => remaining.has(node.id));
};

/** Checks kinds, edges, ports and cycles, and resolves what flows where. */
export const checkStructure = (graph: Graph, schemaOf: SchemaOf): { wiring: Wiring; issues: GraphIssue[] } => {
  const issues: GraphIssue[] = [];
  const nodes = new Map<string, GraphNode>();
  for (const node of graph.nodes) {
    if (!isNodeType(node.type)) issues.push({ nodeId: node.id, message: `there is no node kind ${node.type}` });
    if (!nodes.has(node.id)) nodes.set(node.id, node);
  }
  const wiring: Wiring = { order: [], inputs: new Map() };
  for (const edge of graph.edges) {
    const problem = connect(edge, nodes, schemaOf, wiring);
    if (problem)
      issues.push({ nodeId: nodes.has(edge.target) ? edge.target : nodes.has(edge.source) ? edge.source : null, message: problem });
  }
  const runnable = [...nodes.values()].filter((node) => isNodeType(node.type) && node.type !== "note");
  const { order, stuck } = dependencyOrder(runnable, wiring.inputs);
  for (const node of onCycle(stuck, wiring.inputs)) issues.push({ nodeId: node.id, message: "is part of a cycle" });
  wiring.order = order;
  return { wiring, issues };
};
