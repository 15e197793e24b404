import { NodeToolbar, Position } from "@xyflow/react";
import { useLive } from "../../../../runs/live";
import { WaitingNodes } from "../../../../runs/approvals/waiting";
import { useEditor } from "../../context";

/** Under a node that waits: what it shows, and the two ways on. */
export const NodeDecision = ({ nodeId }: { nodeId: string }) => {
  const { slug } = useEditor();
  const executionId = useLive(({ runs }) => runs[slug]?.executionId);
  if (executionId === undefined) return null;
  return (
    <NodeToolbar
      nodeId={nodeId}
      isVisible
      position={Position.Bottom}
      className="nodrag nopan nowheel max-h-80 w-64 overflow-y-auto rounded-xl shadow-high"
    >
      <WaitingNodes executionId={executionId} nodeId={nodeId} />
    </NodeToolbar>
  );
};
