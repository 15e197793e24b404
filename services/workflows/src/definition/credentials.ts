import { DomainError, readGraph } from "@nodeloom/kernel";
import { credentialIssues } from "@nodeloom/kernel/credentials";
import type { Workflow } from "./workflow";

/** @throws DomainError WORKFLOW_INVALID for a public graph with a literal that looks like a credential */
export const checkNoCredentials = ({ nodesJson, edgesJson }: Pick<Workflow, "nodesJson" | "edgesJson">): void => {
  const issues = credentialIssues(readGraph(nodesJson, edgesJson));
  if (issues.length === 0) return;
  const text = issues.map(({ nodeId, message }) => `${nodeId}: ${message}`).join("; ");
  throw new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't be a template: ${text}`, { issues });
};
