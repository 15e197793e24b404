import { groupBy } from "../../group-by";
import { defaultInput, kindOf, outputPorts, requestInputs } from "../kinds";
import { finding, findingInWords, type Finding, type GraphIssue } from "../../issues";
import { innerId, isRecord, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { fieldsOf, resolveInputs, type InputField } from "../values/fields";
import { FLOWS, portTypeName, type PortType } from "../wiring/ports";
import { beginAt, type End } from "../wiring/ends";

/** The parts of an inner workflow, as they are in the graph that contains it. */

export type InlineGraph = Graph & { issues: readonly GraphIssue[] };

/** Edges into a node that runs a workflow, by input field. */
export type Flows = ReadonlyMap<string, readonly GraphEdge[]>;

const SHOWN_NAMES = 12;
export const choices = (names: Iterable<string>): string => {
  const all = [...names];
  return `${all.slice(0, SHOWN_NAMES).map(shownName).join(", ")}${all.length > SHOWN_NAMES ? ", …" : ""}`;
};

const isOutput = ({ type }: GraphNode): boolean => kindOf(type)?.isResult === true;

export const inputFieldsOf = (inner: Graph): InputField[] => requestInputs(inner).flatMap(({ data }) => fieldsOf(data));

export const flowsOf = (outer: Graph, node: GraphNode, fields: readonly InputField[]): Map<string, GraphEdge[]> => {
  const [only, ...others] = fields;
  const targetPort = ({ targetHandle, sourceHandle }: GraphEdge): string =>
    targetHandle ?? (only && others.length === 0 ? only.name : (sourceHandle ?? ""));
  return groupBy(
    outer.edges.filter(({ target }) => target === node.id),
    targetPort,
  );
};

/** The type of an output; undefined if it is known only after another workflow is inlined. */
export const outputTypeOf = (outer: Graph, { source, sourceHandle }: End): PortType | undefined => {
  const from = outer.nodes.find(({ id, type, turn }) => id === source && (turn !== undefined || !kindOf(type)?.isReplaced));
  const ports = from ? outputPorts(from) : new Map<string, PortType>();
  return sourceHandle === null ? [...ports.values()][0] : ports.get(sourceHandle);
};

/** The types of the inner workflow's fields. */
export const fieldTypes = (inner: Graph): Map<string, PortType> =>
  new Map(requestInputs(inner).flatMap((input) => [...outputPorts(input)]));

/** Problems of the edges into a node that runs a workflow. */
export const flowProblems = (outer: Graph, inner: Graph, node: GraphNode, flows: Flows): Finding[] => {
  const ports = fieldTypes(inner);
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
export const literalsOf = ({ data }: GraphNode, fields: readonly InputField[], flows: Flows) => {
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

const isKept = (node: GraphNode): boolean => !isOutput(node) && kindOf(node.type)?.runs !== false;

/** Number of nodes that take the place of a node that runs this workflow. */
export const keptNodes = ({ nodes }: Graph): number => nodes.filter(isKept).length;

/** A node of a loop's turn, with the ids that it has in the outer graph. */
const movedTurn = (id: string, { gate, original, turn }: GraphNode): Partial<GraphNode> => ({
  ...(gate === undefined ? {} : { gate: innerId(id, gate) }),
  ...(original === undefined ? {} : { original: innerId(id, original) }),
  ...(turn ? { turn: { ...turn, nodes: turn.nodes.map((one) => innerId(id, one)) } } : {}),
});

/** Returns the inner nodes with new ids. Request inputs keep their values; result and note nodes are dropped. */
export const innerNodes = (id: string, inner: Graph, values: ReadonlyMap<string, unknown>): GraphNode[] => {
  const inputs = new Set(requestInputs(inner));
  return inner.nodes.filter(isKept).flatMap((one): GraphNode[] => {
    const moved = { ...one, id: innerId(id, one.id), ...movedTurn(id, one) };
    if (!inputs.has(one)) return [moved];
    const own = fieldsOf(one.data).flatMap(({ name }): [string, unknown][] => (values.has(name) ? [[name, values.get(name)]] : []));
    return [{ ...moved, fieldValues: new Map(own) }];
  });
};

/**
 * Returns where an inner edge starts in the outer graph. An edge from an input field starts at the source of the edge into that field.
 * @param otherwise values for fields whose edge delivers no value. Several edges form a list, which always has a value.
 */
export const endsOf = (id: string, inner: Graph, flows: Flows, otherwise: ReadonlyMap<string, unknown>) => {
  const inputs = new Map(requestInputs(inner).map((one) => [one.id, one]));
  return ({ source, sourceHandle, isOneOf }: End): readonly End[] => {
    const input = inputs.get(source);
    const field = input && (sourceHandle ?? fieldsOf(input.data)[0]?.name ?? "");
    const flowing = field === undefined ? undefined : flows.get(field);
    if (!flowing) return [{ source: innerId(id, source), sourceHandle, ...(isOneOf ? { isOneOf } : {}) }];
    const [only, ...others] = flowing;
    if (!only || others.length > 0 || only.otherwise || !otherwise.has(field!)) return flowing;
    return [{ ...only, otherwise: { value: otherwise.get(field!) } }];
  };
};

/** The inner edges that pass values between inner nodes, in the outer graph. */
export const innerEdges = (id: string, inner: Graph, ends: (end: End) => readonly End[]): GraphEdge[] => {
  const outputs = new Set(inner.nodes.filter(isOutput).map((one) => one.id));
  return inner.edges
    .filter(({ target }) => !outputs.has(target))
    .flatMap((edge) => beginAt({ ...edge, id: innerId(id, edge.id), target: innerId(id, edge.target) }, ends(edge)));
};

/** Name of the result member that an edge into the result node sets. */
const memberOf = (inner: Graph, { source, sourceHandle, targetHandle, target }: GraphEdge): string => {
  if (targetHandle !== null) return targetHandle;
  const [from, to] = [source, target].map((id) => inner.nodes.find((one) => one.id === id));
  const port = sourceHandle ?? (from ? [...outputPorts(from).keys()][0] : undefined) ?? "";
  return to ? defaultInput(to, port) : port;
};

/** Edges into the result of a workflow, by member. */
export const memberEdges = (graph: Graph): Map<string, GraphEdge[]> => {
  const outputs = new Set(graph.nodes.filter(isOutput).map(({ id }) => id));
  return groupBy(
    graph.edges.filter(({ target }) => outputs.has(target)),
    (edge) => memberOf(graph, edge),
  );
};

/** Names of the members in a workflow's result. */
export const resultMembers = (graph: Graph): string[] => [...memberEdges(graph).keys()];
