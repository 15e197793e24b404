import type { EdgeChange, NodeChange } from "@xyflow/react";
import { useEditor } from "../context";
import type { FlowEdge, FlowNode } from "../scene/flow";

/** Copies the canvas's selection to the document. */
export const useSelecting = () => {
  const { document } = useEditor();
  return (changes: readonly (NodeChange<FlowNode> | EdgeChange<FlowEdge>)[], of: "nodes" | "edges"): void => {
    const selectChanges = changes.flatMap((change) => (change.type === "select" ? [change] : []));
    if (selectChanges.length === 0) return;
    const { selection } = document.store.getState();
    const next = new Set(selection[of]);
    for (const { id, selected } of selectChanges) if (selected) next.add(id);
    for (const { id, selected } of selectChanges) if (!selected) next.delete(id);
    document.select(of === "nodes" ? next : selection.nodes, of === "edges" ? next : selection.edges);
  };
};
