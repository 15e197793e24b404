/** Checks the decider of an approval that names its approvers or excludes the person who started the run. */
import { DomainError, isRole, nodeName, roleReaches, shownName } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { Approval } from "../run/approvals";
import type { ExecutionView } from "../run/record";

/** True if an entry of the approvers matches the decider. A role matches only people; a service account must be named by its id. */
const isApprover = (approver: string, { personId, role, address, isService }: executions.Decider): boolean =>
  isRole(approver)
    ? !isService && isRole(role) && roleReaches(role, approver)
    : approver === personId || (address !== "" && approver === address.toLowerCase());

const denied = (nodeId: string, message: string): DomainError =>
  new DomainError("forbidden", "NOT_APPROVER", `node ${nodeName(shownName(nodeId), undefined)}: ${message}`);

/** @throws NOT_APPROVER */
export const checkDecider = (
  row: ExecutionView,
  { nodeId, approvers = [], notStarter }: Approval,
  decider: executions.Decider | undefined,
): void => {
  if (approvers.length > 0 && !(decider && approvers.some((approver) => isApprover(approver, decider))))
    throw denied(nodeId, "only its approvers can decide. They are in `waitingFor` of the execution");
  const starter = row.personId ?? row.userId;
  if (notStarter && (!decider || decider.isService || decider.personId === starter))
    throw denied(nodeId, "a person who didn't start the run must decide");
};
