import { groupBy } from "../../group-by";
import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS, textBytes } from "../bounds";
import { defaultInput, kindOf, outputPorts, requestInputs } from "../kinds";
import { distinct, finding, findingInWords, type Finding, type GraphIssue } from "../issues";
import { isRecord, shownName, type Graph, type GraphEdge, type GraphNode } from "../types";
import { fieldsOf, resolveInputs, type InputField } from "../values/fields";
import { FLOWS, portTypeName, type PortType } from "../wiring/ports";
import { beginAt, type End } from "../wiring/ends";
import { innerId, referenceOf } from "./references";

/** Replaces workflow nodes with the nodes of the workflows they name, so that planning sees a single graph. */

export type InlineGraph = Graph & { issues: readonly GraphIssue[] };

/**
 * Returns the workflow that a node names.
 * @param within key of the workflow that contains the node
 */
export type Resolve = (within: string, nodeId: string) => { key: string; graph: InlineGraph } | undefined;

const SHOWN_NAMES = 12;
const choices = (names: Iterable<string>): string => {
  const all = [...names];
  return `${all.slice(0, SHOWN_NAMES).map(shownName).join(", ")}${all.length > SHOWN_NAMES ? ", …" : ""}`;
};

const isOutput = ({ type }: GraphNode): boolean => kindOf(type)?.isResult === true;

/** Edges into a workflow node, by input field. */
const flowsOf = (outer: Graph, node: GraphNode, fields: readonly InputField[]): Map<string, GraphEdge[]> => {
  const [only, ...others] = fields;
  const targetPort = ({ targetHandle, sourceHandle }: GraphEdge): string =>
    targetHandle ?? (only && others.length === 0 ? only.name : (sourceHandle ?? ""));
  return groupBy(
    outer.edges.filter(({ target }) => target === node.id),
    targetPort,
  );
};

const outputTypeOf = (outer: Graph, { source, sourceHandle }: End): PortType | undefined => {
  const from = outer.nodes.find(({ id, type }) => id === source && !kindOf(type)?.isReplaced);
  const ports = from ? outputPorts(from) : new Map<string, PortType>();
  return sourceHandle === null ? [...ports.values()][0] : ports.get(sourceHandle);
};

/** Problems of the edges into a workflow node. */
const flowProblems = (outer: Graph, inner: Graph, node: GraphNode, flows: ReadonlyMap<string, readonly GraphEdge[]>): Finding[] => {
  const ports = new Map(requestInputs(inner).flatMap((input) => [...outputPorts(input)]));
  return [...flows].flatMap(([name, edges]) => {
    const type = ports.get(name);
    if (type === undefined)
      return [
        finding("UNKNOWN_INPUT", { node: node.id, name: shownName(name), edge: shownName(edges[0]!.id), choices: choices(ports.keys()) }),
      ];
    return edges.flatMap((edge) => {
      if (edge.source === node.id) return [finding("CYCLE")];
      const fromType = outputTypeOf(outer, edge);
      const isRefused = fromType !== undefined && FLOWS[fromType][type] === "refused";
      return isRefused
        ? [
            finding("TYPE_MISMATCH", {
              from: `${edge.source}.${edge.sourceHandle ?? ""}`,
              gives: portTypeName(fromType),
              to: `${node.id}.${shownName(name)}`,
              takes: portTypeName(type),
            }),
          ]
        : [];
    });
  });
};

/** Literal and default values of the input fields, with their problems. Fields with an edge are skipped. */
const literalsOf = ({ data }: GraphNode, fields: readonly InputField[], flows: ReadonlyMap<string, unknown>) => {
  const literalEntries = isRecord(data.inputs) ? Object.entries(data.inputs).filter(([, value]) => value !== null) : [];
  const resolved = (isFlowing: boolean) =>
    resolveInputs(
      fields.filter(({ name }) => flows.has(name) === isFlowing),
      Object.fromEntries(literalEntries.filter(([name]) => flows.has(name) === isFlowing)),
    );
  const { values, issues } = resolved(false);
  const problems = issues.map(({ path, message, code }) => {
    const name = path.replace(/^inputs\./, "");
    return code === "REQUIRED" ? finding(code, { name }) : findingInWords("INPUT_INVALID", `${name}: ${message}`, name);
  });
  return { values, problems, otherwise: resolved(true).values };
};

/** Returns the inner nodes with new ids. Request inputs keep their values; result and note nodes are dropped. */
const innerNodes = (node: GraphNode, inner: Graph, values: ReadonlyMap<string, unknown>): GraphNode[] => {
  const inputs = new Set(requestInputs(inner));
  return inner.nodes
    .filter((one) => !isOutput(one) && kindOf(one.type)?.runs !== false)
    .flatMap((one): GraphNode[] => {
      const moved = { ...one, id: innerId(node.id, one.id) };
      if (!inputs.has(one)) return [moved];
      const own = fieldsOf(one.data).flatMap(({ name }): [string, unknown][] => (values.has(name) ? [[name, values.get(name)]] : []));
      return [{ ...moved, given: new Map(own) }];
    });
};

/**
 * Returns where an inner edge starts in the outer graph. An edge from an input field starts at the source of the edge into that field.
 * @param otherwise values for fields whose edge delivers no value. Several edges form a list, which always has a value.
 */
const endsOf = (
  node: GraphNode,
  inner: Graph,
  flows: ReadonlyMap<string, readonly GraphEdge[]>,
  otherwise: ReadonlyMap<string, unknown>,
) => {
  const inputs = new Map(requestInputs(inner).map((one) => [one.id, one]));
  return ({ source, sourceHandle }: End): readonly End[] => {
    const input = inputs.get(source);
    const field = input && (sourceHandle ?? fieldsOf(input.data)[0]?.name ?? "");
    const flowing = field === undefined ? undefined : flows.get(field);
    if (!flowing) return [{ source: innerId(node.id, source), sourceHandle }];
    const [only, ...others] = flowing;
    if (!only || others.length > 0 || only.otherwise || !otherwise.has(field!)) return flowing;
    return [{ ...only, otherwise: { value: otherwise.get(field!) } }];
  };
};

/** Name of the result member that an edge into the result node sets. */
const memberOf = (inner: Graph, { source, sourceHandle, targetHandle, target }: GraphEdge): string => {
  if (targetHandle !== null) return targetHandle;
  const [from, to] = [source, target].map((id) => inner.nodes.find((one) => one.id === id));
  const port = sourceHandle ?? (from ? [...outputPorts(from).keys()][0] : undefined) ?? "";
  return to ? defaultInput(to, port) : port;
};

/** Names of the members in a workflow's result. */
export const resultMembers = (graph: Graph): string[] => {
  const outputs = new Set(graph.nodes.filter(isOutput).map(({ id }) => id));
  return [...new Set(graph.edges.filter(({ target }) => outputs.has(target)).map((edge) => memberOf(graph, edge)))];
};

const inlineOne = (outer: InlineGraph, node: GraphNode, inner: InlineGraph): InlineGraph => {
  const fields = requestInputs(inner).flatMap(({ data }) => fieldsOf(data));
  const flows = flowsOf(outer, node, fields);
  const { values, problems, otherwise } = literalsOf(node, fields, flows);
  const ends = endsOf(node, inner, flows, otherwise);
  const outputs = new Set(inner.nodes.filter(isOutput).map(({ id }) => id));
  const members = groupBy(
    inner.edges.filter(({ target }) => outputs.has(target)),
    (edge) => memberOf(inner, edge),
  );
  const issues: Finding[] = [...flowProblems(outer, inner, node, flows), ...problems];
  const outerEdges = outer.edges.flatMap((edge): GraphEdge[] => {
    if (edge.target === node.id) return [];
    if (edge.source !== node.id) return [edge];
    const name = edge.sourceHandle ?? [...members.keys()][0] ?? "";
    const into = members.get(name);
    if (!into)
      issues.push(
        finding("UNKNOWN_OUTPUT", { node: node.id, name: shownName(name), edge: shownName(edge.id), choices: choices(members.keys()) }),
      );
    return beginAt(
      edge,
      (into ?? []).flatMap((one) => beginAt(one, ends(one))),
    );
  });
  const innerEdges = inner.edges
    .filter(({ target }) => !outputs.has(target))
    .flatMap((edge) => beginAt({ ...edge, id: innerId(node.id, edge.id), target: innerId(node.id, edge.target) }, ends(edge)));
  return {
    nodes: outer.nodes.flatMap((one) => (one === node ? innerNodes(node, inner, values) : [one])),
    edges: [...outerEdges, ...innerEdges],
    issues: [
      ...outer.issues,
      ...distinct(issues).map((nodeFinding) => ({ nodeId: node.id, ...nodeFinding })),
      ...inner.issues.map((issue) => ({ ...issue, nodeId: issue.nodeId === null ? node.id : innerId(node.id, issue.nodeId) })),
    ],
  };
};

/** The problem of a graph that is too large after expansion, or undefined. */
const sizeProblem = ({ nodes, edges }: Graph): string | undefined => {
  if (nodes.length > LIMITS.nodes) return `with the nodes of this workflow the graph has more than ${LIMITS.nodes} nodes`;
  if (edges.length > LIMITS.edges) return `with the edges of this workflow the graph has more than ${LIMITS.edges} edges`;
  const long = nodes.find(({ id }) => textBytes(id) > GRAPH_BOUNDS.nodeIdBytes);
  return long && `the id of the node ${shownName(long.id)} is longer than ${GRAPH_BOUNDS.nodeIdBytes} bytes`;
};

/**
 * Expands the workflow nodes of a graph, to any depth.
 * @param resolve returns undefined for nodes that stay unexpanded
 * @param key key of the graph itself
 */
export const inlineWorkflows = (
  graph: InlineGraph,
  resolve: Resolve,
  key: string,
  expandedGraphs = new Map<string, InlineGraph>(),
): InlineGraph => {
  let whole = graph;
  for (const node of graph.nodes) {
    const inner = referenceOf(node) && resolve(key, node.id);
    if (!inner) continue;
    const expanded = expandedGraphs.get(inner.key) ?? inlineWorkflows(inner.graph, resolve, inner.key, expandedGraphs);
    expandedGraphs.set(inner.key, expanded);
    whole = inlineOne(
      whole,
      whole.nodes.find(({ id }) => id === node.id)!,
      expanded,
    );
    const problem = sizeProblem(whole);
    if (problem === undefined) continue;
    // An oversized graph stays unexpanded.
    return {
      nodes: graph.nodes,
      edges: graph.edges,
      issues: [...graph.issues, { nodeId: node.id, ...findingInWords("LIMIT_EXCEEDED", problem) }],
    };
  }
  return whole;
};
