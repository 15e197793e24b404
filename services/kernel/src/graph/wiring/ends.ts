import type { GraphEdge } from "../types";

/** Where an edge begins, and what flows where that is absent. */
export type End = Pick<GraphEdge, "source" | "sourceHandle" | "otherwise">;

/**
 * An edge that begins elsewhere, at one end or several.
 * What flows in place of an absent value stays with it: that of the new end, or else the edge's own. Several edges make a list, which is
 * never absent.
 */
export const beginAt = ({ otherwise: own, ...edge }: GraphEdge, ends: readonly End[]): GraphEdge[] =>
  ends.map(({ source, sourceHandle, otherwise = ends.length === 1 ? own : undefined }) => ({
    ...edge,
    source,
    sourceHandle,
    ...(otherwise ? { otherwise } : {}),
  }));
