import { DomainError, executionNotFound, nodeName, shownName, waitsForDecision } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { decisionOf, approvalOf, type Approvals } from "../lifecycle/approvals";
import type { ExecutionView } from "../run/record";
import type { Decision } from "../run/approvals";
import type { Stores } from "../record/stores";
import { checkDecider } from "./decider";
import { createChangedValue, type ChangedValueOptions } from "./changed-value";

export interface DecideOptions extends ChangedValueOptions {
  stores: Pick<Stores, "rows" | "log" | "payloads">;
  approvals: Pick<Approvals, "decide">;
}

const verbOf = ({ isApproved }: Decision): "approve" | "reject" => (isApproved ? "approve" : "reject");

/** Says that a node doesn't wait, and how it was decided. */
export const notWaiting = (row: ExecutionView, nodeId: string): DomainError => {
  const name = nodeName(shownName(nodeId), undefined);
  const earlier = decisionOf(row, nodeId);
  if (!earlier) return new DomainError("conflict", "NOT_WAITING", `the execution isn't waiting for a decision on node ${name}`);
  const who = earlier.by === "timeout" ? "when its time was over" : "before";
  return new DomainError("conflict", "NOT_WAITING", `node ${name} was decided ${who}: ${verbOf(earlier)}`, {
    decision: verbOf(earlier),
    decidedBy: earlier.by,
    decidedAt: earlier.at.toISOString(),
  });
};

export type Decide = ReturnType<typeof createDecide>;

/**
 * Decides an approval. The first decision wins, whether a person or the timeout made it.
 * @throws EXECUTION_NOT_FOUND; NOT_FOUND if the node isn't an approval of the run; NOT_WAITING; NOT_APPROVER; INVALID_REQUEST
 */
export const createDecide = ({ stores, approvals, ...files }: DecideOptions) => {
  const changedValue = createChangedValue(files);
  return async (request: executions.DecideExecutionRequest): Promise<executions.DecideExecutionResponse> => {
    const { executionId, userId, nodeId, isApproved, valueJson, personId, keyId, comment = "" } = request;
    const row = await stores.rows.findOwned(executionId, userId);
    if (!row) throw executionNotFound();
    const approval = approvalOf(row, nodeId);
    if (!approval) {
      const { nodes } = await stores.log.whole(row);
      if (nodes.some(({ id, type }) => id === nodeId && waitsForDecision(type))) throw notWaiting(row, nodeId);
      throw new DomainError("not_found", "NOT_FOUND", `the execution has no approval ${shownName(nodeId)}`);
    }
    if (row.waitingFor?.includes(nodeId) !== true) throw notWaiting(row, nodeId);
    checkDecider(row, approval, request.decider);
    const changed = valueJson === undefined ? undefined : JSON.stringify(await changedValue(approval.type, valueJson, userId));
    const decision: Decision = {
      ...{ nodeId, isApproved, by: "owner", at: new Date() },
      ...(keyId === undefined ? (personId === undefined ? {} : { userId: personId }) : { keyId }),
      ...(comment === "" ? {} : { comment }),
      ...(changed === undefined ? {} : { value: await stores.payloads.putText(changed, executionId) }),
    };
    const decided = await approvals.decide(row, decision, { userId });
    if (!decided) throw notWaiting((await stores.rows.findOwned(executionId, userId)) ?? row, nodeId);
    return executions.DecideExecutionResponse.fromPartial({
      ...{ nodeId, isApproved, decidedAt: decision.at, userId: decision.userId, keyId: decision.keyId, comment },
    });
  };
};
