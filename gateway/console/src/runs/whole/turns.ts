import type { NodeState } from "@nodeloom/client";
import { makesTurns } from "@nodeloom/kernel/graph";

/** Numbers of the turns that a node of a run belongs to, the outermost loop first; empty outside of loops. */
export const turnsOf = (id: string, nodes: ReadonlyMap<string, Pick<NodeState, "type">>): string[] => {
  const parts = id.split("/");
  return parts.flatMap((part, at) => {
    const isTurn = at > 0 && makesTurns(nodes.get(parts.slice(0, at + 1).join("/"))?.type ?? "");
    return isTurn ? [part] : [];
  });
};
