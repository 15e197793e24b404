import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import type { Graph, GraphNode } from "../types";

export const isMaxItems = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= GRAPH_BOUNDS.listItems;

/** The author's limit for a list of unknown length. */
export const givenMaxItems = ({ data }: GraphNode): number | undefined => {
  const { maxItems } = data;
  return isMaxItems(maxItems) ? maxItems : undefined;
};

/** Maximum calls of a run. A graph whose lists can be long can make more. */
export const maxCalls = ({ nodes }: Pick<Graph, "nodes">): number =>
  nodes.some((node) => mostItems(node) > LIMITS.fanOutItems) ? GRAPH_BOUNDS.callsOfLongLists : GRAPH_BOUNDS.calls;

/** Maximum items over which a node runs. */
export const mostItems = (node: GraphNode | undefined): number => (node && givenMaxItems(node)) ?? LIMITS.fanOutItems;
