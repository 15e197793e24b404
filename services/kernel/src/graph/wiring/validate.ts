import { anyInput, defaultInput, inputPorts, kindOf, outputPorts } from "../kinds";
import type { WiredEnd, Wiring } from "../plan/planner";
import { FLOWS, isFileType, portTypeName, type InputPort, type PortType } from "./ports";
import type { JsonSchema } from "../prices/price";
import { nearestName } from "../../text/nearest-name";
import { finding, type Finding, type GraphIssue } from "../../issues";
import { NODE_TYPES, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";

const ANYTHING: InputPort = { type: "any", list: false };
const SHOWN_PORTS = 12;

type SchemaOf = (node: GraphNode) => JsonSchema | undefined;
/** Returns the members of the result of a node's model, or undefined if they are unknown. */
type ResultsOf = (node: GraphNode) => readonly string[] | undefined;

interface Ports {
  /** Input ports of a node; undefined if its model is unknown. */
  inputs: (node: GraphNode) => Map<string, InputPort> | undefined;
  outputs: (node: GraphNode) => Map<string, PortType>;
}

const once = <T>(make: (node: GraphNode) => T): ((node: GraphNode) => T) => {
  const cache = new Map<GraphNode, T>();
  return (node) => {
    if (!cache.has(node)) cache.set(node, make(node));
    return cache.get(node)!;
  };
};

const choices = (names: Iterable<string>): string => {
  const [first, ...rest] = [...names];
  if (first === undefined) return "";
  return `${[first, ...rest].slice(0, SHOWN_PORTS).map(shownName).join(", ")}${rest.length >= SHOWN_PORTS ? ", …" : ""}`;
};

const typeProblem = (edge: GraphEdge, [port, output]: [string, PortType], [name, input]: [string, PortType]): Finding => {
  const hint =
    isFileType(output) && input === "text"
      ? `; {{${shownName(name)}}} in its text would be the file's address`
      : output === "image" && input === "mask"
        ? "; a media node with the operation mask-from-image makes a mask of it"
        : "";
  return finding("TYPE_MISMATCH", {
    from: `${edge.source}.${shownName(port)}`,
    gives: portTypeName(output),
    to: `${edge.target}.${shownName(name)}`,
    takes: portTypeName(input),
    edge: shownName(edge.id),
    hint,
  });
};

const missingEnds = ({ id, source, target }: GraphEdge, nodes: ReadonlyMap<string, GraphNode>): Finding[] => [
  ...(nodes.has(source) ? [] : [finding("UNKNOWN_SOURCE", { edge: shownName(id), node: shownName(source) })]),
  ...(nodes.has(target) ? [] : [finding("UNKNOWN_TARGET", { edge: shownName(id), node: shownName(target) })]),
];

/** Connects one edge, or returns its problems. */
const connect = (edge: GraphEdge, nodes: ReadonlyMap<string, GraphNode>, ports: Ports, wiring: Wiring): Finding[] => {
  const [from, to] = [nodes.get(edge.source), nodes.get(edge.target)];
  if (!from || !to) return missingEnds(edge, nodes);
  if (!kindOf(from.type)?.runs || !kindOf(to.type)?.runs) return [];
  const outputs = ports.outputs(from);
  const port = edge.sourceHandle ?? [...outputs.keys()][0] ?? "";
  const outputType = outputs.get(port) ?? (kindOf(from.type)?.isReplaced ? "any" : undefined);
  const name = edge.targetHandle ?? defaultInput(to, port);
  // Inputs of an unknown model can't be checked. Planning reports the model.
  const input = anyInput(to, name) ?? ports.inputs(to)?.get(name) ?? (ports.inputs(to) ? undefined : ANYTHING);
  const problems = [
    ...(outputType === undefined
      ? [finding("UNKNOWN_OUTPUT", { node: from.id, name: shownName(port), edge: shownName(edge.id), choices: choices(outputs.keys()) })]
      : []),
    ...(input
      ? []
      : [
          finding("UNKNOWN_INPUT", {
            node: to.id,
            name: shownName(name),
            edge: shownName(edge.id),
            choices: choices(ports.inputs(to)!.keys()),
          }),
        ]),
  ];
  if (outputType !== undefined && input && FLOWS[outputType][input.type] === "refused")
    problems.push(typeProblem(edge, [port, outputType], [name, input.type]));
  if (problems.length > 0) return problems;
  const wired = wiring.inputs.get(to.id) ?? new Map<string, WiredEnd[]>();
  const { otherwise, isOneOf } = edge;
  const end: WiredEnd = { node: from.id, port, ...(otherwise ? { otherwise } : {}), ...(isOneOf ? { isOneOf } : {}) };
  wiring.inputs.set(to.id, wired.set(name, [...(wired.get(name) ?? []), end]));
  return [];
};

/** The nodes that each node waits for. In a loop, these include the end of the turn before, and at the end of a turn all its nodes. */
const sourcesOf = (nodes: readonly GraphNode[], inputs: Wiring["inputs"]): Map<string, Set<string>> => {
  const ids = new Set(nodes.map(({ id }) => id));
  return new Map(
    nodes.map(({ id, gate, turn }) => {
      const before = [...(gate === undefined ? [] : [gate]), ...(turn?.nodes ?? [])].filter((one) => ids.has(one));
      return [id, new Set([...[...(inputs.get(id)?.values() ?? [])].flat().map((edge) => edge.node), ...before])];
    }),
  );
};

/** Kahn's algorithm, stable in node order. The remaining nodes are on a cycle or after one. */
const dependencyOrder = (nodes: readonly GraphNode[], inputs: Wiring["inputs"]): { order: GraphNode[]; stuck: GraphNode[] } => {
  const waiting = sourcesOf(nodes, inputs);
  const dependents = new Map<string, string[]>();
  for (const [id, sources] of waiting) for (const from of sources) dependents.set(from, [...(dependents.get(from) ?? []), id]);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const order = nodes.filter((node) => waiting.get(node.id)!.size === 0);
  for (let index = 0; index < order.length; index += 1) {
    const doneId = order[index]!.id;
    for (const id of dependents.get(doneId) ?? []) {
      const openSources = waiting.get(id)!;
      openSources.delete(doneId);
      if (openSources.size === 0) order.push(byId.get(id)!);
    }
  }
  const placed = new Set(order);
  return { order, stuck: nodes.filter((node) => !placed.has(node)) };
};

/** Finds nodes on a cycle or between two cycles, by repeatedly dropping stuck nodes that no other stuck node depends on. */
const onCycle = (stuck: readonly GraphNode[], inputs: Wiring["inputs"]): GraphNode[] => {
  const remaining = new Set(stuck.map((node) => node.id));
  const sources = sourcesOf(stuck, inputs);
  const fed = new Map<string, number>();
  for (const from of sources.values()) for (const id of from) fed.set(id, (fed.get(id) ?? 0) + 1);
  const loose = [...remaining].filter((id) => !fed.has(id));
  for (let id = loose.pop(); id !== undefined; id = loose.pop()) {
    remaining.delete(id);
    for (const from of sources.get(id)!) {
      const left = fed.get(from)! - 1;
      fed.set(from, left);
      if (left === 0 && remaining.has(from)) loose.push(from);
    }
  }
  return stuck.filter((node) => remaining.has(node.id));
};

/** Checks node kinds, edges, ports and cycles, and resolves the sources of each port. */
export const checkStructure = (
  graph: Graph,
  schemaOf: SchemaOf,
  resultsOf: ResultsOf = () => undefined,
): { wiring: Wiring; issues: GraphIssue[] } => {
  const issues: GraphIssue[] = [];
  const nodes = new Map<string, GraphNode>();
  for (const node of graph.nodes) {
    if (!kindOf(node.type))
      issues.push({
        nodeId: node.id,
        ...finding("UNKNOWN_KIND", { kind: shownName(node.type), meant: nearestName(node.type, NODE_TYPES) }),
      });
    if (!nodes.has(node.id)) nodes.set(node.id, node);
  }
  const wiring: Wiring = { order: [], stuck: [], inputs: new Map() };
  const portsOf = (node: GraphNode): Map<string, InputPort> | undefined => {
    const schema = schemaOf(node);
    return kindOf(node.type)?.portsOfModel && schema === undefined ? undefined : inputPorts(node, schema);
  };
  // Cached, because reading a node's ports scans its texts and a node can have many edges.
  const ports: Ports = { inputs: once(portsOf), outputs: once((node) => outputPorts(node, resultsOf(node))) };
  for (const edge of graph.edges) {
    const nodeId = nodes.has(edge.target) ? edge.target : nodes.has(edge.source) ? edge.source : null;
    for (const problem of connect(edge, nodes, ports, wiring)) issues.push({ nodeId, ...problem });
  }
  const runnable = [...nodes.values()].filter((node) => kindOf(node.type)?.runs);
  const { order, stuck } = dependencyOrder(runnable, wiring.inputs);
  for (const node of onCycle(stuck, wiring.inputs)) issues.push({ nodeId: node.id, ...finding("CYCLE") });
  return { wiring: { ...wiring, order, stuck }, issues };
};
