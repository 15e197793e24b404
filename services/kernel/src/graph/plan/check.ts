import { GRAPH_BOUNDS } from "../bounds";
import { kindOf, NODE_KINDS } from "../kinds";
import { itemErrorProblems } from "./item-errors";
import { isMaxItems } from "./max-items";
import type { JsonSchema } from "../prices/price";
import { findingInWords, type GraphIssue } from "../../issues";
import type { Graph, GraphNode } from "../types";

/** An invalid `maxItems` is an issue, because it decides the hold for a list of unknown length. */
const maxItemsProblems = ({ type, data: { maxItems } }: GraphNode): string[] =>
  maxItems === undefined || maxItems === null || isMaxItems(maxItems) || kindOf(type)?.settings.maxItems === undefined
    ? []
    : [`maxItems: must be a whole number from 1 to ${GRAPH_BOUNDS.listItems}`];

const onItemErrorProblems = (node: GraphNode): string[] =>
  kindOf(node.type)?.settings.onItemError === undefined ? [] : itemErrorProblems(node);

/** Problems in the settings of all nodes. */
export const checkSettings = ({ nodes }: Graph, schemaOf: (node: GraphNode) => JsonSchema | undefined): GraphIssue[] => [
  ...nodes
    .filter(({ original }) => original === undefined)
    .flatMap((node) =>
      [...(kindOf(node.type)?.check(node, schemaOf(node)) ?? []), ...maxItemsProblems(node), ...onItemErrorProblems(node)]
        .slice(0, GRAPH_BOUNDS.issues)
        .map((message) => ({ nodeId: node.id, ...findingInWords("SETTING_INVALID", message) })),
    ),
  ...Object.values(NODE_KINDS).flatMap((kind) => kind.checkAll?.(nodes.filter(({ type }) => type === kind.type)) ?? []),
];
