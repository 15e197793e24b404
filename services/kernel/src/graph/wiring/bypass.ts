import { groupBy } from "../../group-by";
import { LIMITS } from "../../limits";
import { defaultInput, kindOf, outputPorts } from "../kinds";
import { finding, type NodeIssue } from "../../issues";
import { labelOf, nodeName, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { beginAt, type End } from "./ends";
import { FLOWS, isFileType, type PortType } from "./ports";

/** A bypassed node doesn't run. It passes its input on. */

export const isBypassed = ({ data }: Pick<GraphNode, "data">): boolean => data.bypass === true;

/** True if a value of one type can replace an output of another. Text isn't accepted as a file's URL here. */
const fits = (fromType: PortType, toType: PortType): boolean => {
  if (fromType === toType) return true;
  if (isFileType(fromType) && isFileType(toType)) return fromType === "media" || toType === "media";
  return FLOWS[fromType][toType] === "allowed" || FLOWS[fromType][toType] === "converted";
};

/**
 * Removes bypassed nodes. Edges from a bypassed node start instead at the source of its first fitting input: the input with the output's
 * name, otherwise the first edge. An input with several edges passes all of them on.
 * @returns the graph without bypassed nodes, and a warning for each node that gets no value because of one
 */
export const withoutBypassed = <G extends Graph>(graph: G): { graph: G; warnings: NodeIssue[] } => {
  const off = new Map(graph.nodes.filter(isBypassed).map((node) => [node.id, node]));
  if (off.size === 0) return { graph, warnings: [] };
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const into = groupBy(graph.edges, ({ target }) => target);

  const outputOf = ({ source, sourceHandle }: End): [string, PortType | undefined] => {
    const from = nodes.get(source);
    const outputs = from ? outputPorts(from) : new Map<string, PortType>();
    const port = sourceHandle ?? [...outputs.keys()][0] ?? "";
    return [port, outputs.get(port)];
  };

  const endsByKey = new Map<string, End[]>();
  /** The sources of an edge, found by following bypassed nodes backwards. */
  const origins = (end: End): End[] => {
    if (!off.has(end.source)) return [end];
    const [name, toType] = outputOf(end);
    const key = JSON.stringify([end.source, name]);
    const cachedEnds = endsByKey.get(key);
    if (cachedEnds) return cachedEnds;
    // Prevents endless recursion on a cycle.
    endsByKey.set(key, []);
    const isFitting = (from: End): boolean => {
      const fromType = outputOf(from)[1];
      return fromType !== undefined && (toType === undefined || fits(fromType, toType));
    };
    const ports = [...groupBy(into.get(end.source) ?? [], ({ targetHandle }) => targetHandle)];
    const inputEnds = ports
      .sort(([a], [b]) => Number(b === name) - Number(a === name))
      .map(([, edges]) => edges.flatMap(origins))
      .find((ends) => ends.length > 0 && ends.length <= LIMITS.fanOutItems && ends.every(isFitting));
    endsByKey.set(key, inputEnds ?? []);
    return inputEnds ?? [];
  };

  const warnings: NodeIssue[] = [];
  const edges = graph.edges.flatMap((edge): GraphEdge[] => {
    const [from, to] = [off.get(edge.source), nodes.get(edge.target)];
    if (off.has(edge.target)) return [];
    if (!from || !to) return [edge];
    // The default target port depends on the output from which the edge starts.
    const targetHandle = edge.targetHandle ?? defaultInput(to, outputOf(edge)[0]);
    const starts = origins(edge);
    if (starts.length === 0 && kindOf(to.type)?.runs) {
      const name = nodeName(from.id, labelOf(from));
      warnings.push({ nodeId: to.id, ...finding("BYPASSED", { name: shownName(targetHandle), node: name }) });
    }
    return beginAt({ ...edge, targetHandle }, starts);
  });
  return { graph: { ...graph, nodes: graph.nodes.filter(({ id }) => !off.has(id)), edges }, warnings };
};
