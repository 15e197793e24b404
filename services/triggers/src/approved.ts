/** What schedules and hooks run: the graph that a caller who can run the workflow approved last. */
import { APPROVED_VERSION, unlessNotFound } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { Workflows } from "./clients";

export const approvedTarget = ({ workflowSlug, alias = "" }: { workflowSlug: string; alias?: string | undefined }): executions.Target =>
  executions.Target.fromPartial({ target: { $case: "workflowSlug", value: workflowSlug }, version: APPROVED_VERSION, alias });

export type Approve = (workflowSlug: string, ownerId: string) => Promise<void>;

/** Approves a workflow as it is for the caller who sets it up to run by itself. Somebody else's template is its owner's to approve. */
export const createApprove =
  (workflows: Pick<Workflows, "approveGraph">): Approve =>
  async (slug, ownerId) => {
    await unlessNotFound(workflows.approveGraph({ slug, ownerId }));
  };
