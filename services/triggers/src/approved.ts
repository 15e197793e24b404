/** Schedules and hooks run the graph that was last approved by a caller with access. */
import { APPROVED_VERSION, unlessNotFound } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { Workflows } from "./clients";

export const approvedTarget = ({ workflowSlug, alias = "" }: { workflowSlug: string; alias?: string | undefined }): executions.Target =>
  executions.Target.fromPartial({ target: { $case: "workflowSlug", value: workflowSlug }, version: APPROVED_VERSION, alias });

export type Approve = (workflowSlug: string, ownerId: string) => Promise<void>;

/** Approves the current workflow for the caller who sets up a trigger. Only its owner can approve a template. */
export const createApprove =
  (workflows: Pick<Workflows, "approveGraph">): Approve =>
  async (slug, ownerId) => {
    await unlessNotFound(workflows.approveGraph({ slug, ownerId }));
  };
