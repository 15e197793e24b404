import { groupBy } from "../../group-by";
import { BindError, createBudget } from "../budget";
import { kindOf } from "../kinds";
import { isAbsent } from "../values/absent";
import { concatenated } from "../values/value";
import type { Graph, GraphEdge, GraphNode } from "../types";

/** The part of a saved graph that a run with its defaults uses, and the values on its edges. */
export interface SavedFlow {
  /** The graph without nodes behind cases of a switch that the defaults don't choose. */
  graph: Graph;
  /** A field's default, the text of a text node, or the value that a node computes from them. Undefined if only a run decides it. */
  valueOf(edge: GraphEdge): unknown;
}

export const savedFlow = (graph: Graph): SavedFlow => {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const incoming = groupBy(graph.edges, ({ target }) => target);
  const budget = createBudget();
  const values = new Map<string, unknown>();
  const skipped = new Map<string, boolean>();

  const isLiving = (edge: GraphEdge): boolean => !isSkipped(edge.source) && !isAbsent(valueOf(edge));

  /** True if one of the node's connected ports gets no value. */
  const isSkipped = (id: string): boolean => {
    const earlier = skipped.get(id);
    if (earlier !== undefined) return earlier;
    // Prevents endless recursion on a cycle.
    skipped.set(id, false);
    const ports = groupBy(incoming.get(id) ?? [], ({ targetHandle }) => targetHandle);
    const is = [...ports.values()].some((edges) => !edges.some(isLiving));
    skipped.set(id, is);
    return is;
  };

  /** True if the value is what the edge carries. The saved text of a node with inputs is a template. */
  const isDecided = (edge: GraphEdge): boolean => {
    const kind = kindOf(nodes.get(edge.source)?.type ?? "");
    return valueOf(edge) !== undefined && (kind?.savedResult !== undefined || !incoming.has(edge.source));
  };

  const computed = (node: GraphNode, port: string | null): unknown => {
    const kind = kindOf(node.type);
    if (!kind?.savedResult) return kind?.savedValue?.(node, port);
    const living = (incoming.get(node.id) ?? []).filter(isLiving);
    if (!living.every(isDecided) || kind.check(node).length > 0) return undefined;
    const ports = groupBy(living, ({ targetHandle, sourceHandle }) => targetHandle ?? kind.defaultInput?.(sourceHandle ?? "", node) ?? "");
    const item = [...ports].map(([name, edges]): [string, unknown] => {
      const flowing = edges.map(valueOf);
      return [name, flowing.length === 1 ? flowing[0] : concatenated(flowing)];
    });
    try {
      return kind.savedResult(node, port, Object.fromEntries(item), budget);
    } catch (error) {
      if (error instanceof BindError) return undefined;
      throw error;
    }
  };

  const valueOf = ({ source, sourceHandle }: GraphEdge): unknown => {
    const node = nodes.get(source);
    if (!node) return undefined;
    const key = JSON.stringify([source, sourceHandle]);
    if (!values.has(key)) {
      // Prevents endless recursion on a cycle.
      values.set(key, undefined);
      values.set(key, computed(node, sourceHandle));
    }
    return values.get(key);
  };

  return {
    graph: { nodes: graph.nodes.filter(({ id }) => !isSkipped(id)), edges: graph.edges.filter(isLiving) },
    valueOf,
  };
};
