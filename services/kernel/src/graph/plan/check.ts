import { GRAPH_BOUNDS } from "../bounds";
import { kindOf, NODE_KINDS } from "../kinds";
import type { JsonSchema } from "../prices/price";
import type { Graph, GraphIssue, GraphNode } from "../types";

/** Everything that is wrong with the settings of a graph's nodes. */
export const checkSettings = ({ nodes }: Graph, schemaOf: (node: GraphNode) => JsonSchema | undefined): GraphIssue[] => [
  ...nodes.flatMap((node) =>
    (kindOf(node.type)?.check(node, schemaOf(node)) ?? []).slice(0, GRAPH_BOUNDS.issues).map((message) => ({ nodeId: node.id, message })),
  ),
  ...Object.values(NODE_KINDS).flatMap((kind) => kind.checkAll?.(nodes.filter(({ type }) => type === kind.type)) ?? []),
];
