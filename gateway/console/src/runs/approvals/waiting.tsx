import { useQuery } from "@tanstack/react-query";
import { executionQuery } from "../../api/queries";
import { DecisionCard } from "./decision-card";
import { WAITING } from "../../messages/runs";

/** Decisions of a run in progress, beside the canvas or at a node. */
export const WaitingNodes = ({ executionId, nodeId }: { executionId: string; nodeId?: string }) => {
  const { data } = useQuery(executionQuery(executionId));
  const waitingNodes = data?.waitingFor?.filter((waiting) => nodeId === undefined || waiting.nodeId === nodeId);
  return waitingNodes?.map((waiting) => (
    <div
      key={waiting.nodeId}
      role="group"
      aria-label={WAITING.waitingForApproval(waiting.title)}
      className="rounded-xl border bg-surface p-3"
    >
      <p className="mb-1 text-xs font-medium text-accent-text">{WAITING.waitingForApprovalTitle}</p>
      <DecisionCard executionId={executionId} waiting={waiting} isPlain />
    </div>
  ));
};
