import type { GraphEdge } from "../types";

/** The start of an edge, and a value to use if the edge delivers none. */
export type End = Pick<GraphEdge, "source" | "sourceHandle" | "otherwise" | "isOneOf">;

/**
 * Moves the start of an edge to one or several ends. A value for an absent input is kept: the new end's value, or otherwise the edge's own.
 * Several edges form a list, which is never absent.
 */
export const beginAt = ({ otherwise: own, ...edge }: GraphEdge, ends: readonly End[]): GraphEdge[] =>
  ends.map(({ source, sourceHandle, isOneOf, otherwise = ends.length === 1 ? own : undefined }) => ({
    ...edge,
    source,
    sourceHandle,
    ...(isOneOf ? { isOneOf } : {}),
    ...(otherwise ? { otherwise } : {}),
  }));
