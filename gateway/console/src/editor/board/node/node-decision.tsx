import { NodeToolbar, Position } from "@xyflow/react";
import { lazy, Suspense } from "react";
import { useLive } from "../../../runs/live";
import { useEditor } from "../../context";

/** Loaded lazily, because few workflows wait for people. */
const WaitingNodes = lazy(async () => ({ default: (await import("../../../runs/approvals/waiting")).WaitingNodes }));

/** Decision below a waiting node: its value and two buttons. */
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
      <Suspense fallback={null}>
        <WaitingNodes executionId={executionId} nodeId={nodeId} />
      </Suspense>
    </NodeToolbar>
  );
};
