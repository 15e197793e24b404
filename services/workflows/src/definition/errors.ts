import { DomainError } from "@nodeloom/kernel";

export const workflowNotFound = (): DomainError => new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");
export const versionNotFound = (): DomainError => new DomainError("not_found", "VERSION_NOT_FOUND", "the workflow has no such version");
export const notApproved = (): DomainError =>
  new DomainError("forbidden", "ACCOUNT_NOT_APPROVED", "this account awaits approval and cannot publish templates yet");

/** @throws DomainError WORKFLOW_NOT_FOUND for undefined */
export const found = <T>(workflow: T | undefined): T => {
  if (workflow === undefined) throw workflowNotFound();
  return workflow;
};
