import { unlessNotFound } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import type { CallContext } from "../../edge/route";

type Context = Pick<CallContext<"any">, "gateway" | "caller">;

/** A workflow of the caller, or a template. @throws WORKFLOW_NOT_FOUND */
export const readableWorkflow = async ({ gateway, caller }: Context, slug: string): Promise<workflows.Workflow> => {
  const { workflow } = await gateway.services.workflows.getWorkflow({ slug, userId: caller.user.id });
  if (!workflow) throw new Error("workflows answered without a workflow");
  return workflow;
};

/**
 * Returns a workflow's list. After a workflow is deleted, its remaining entries are still listed, so that they can be removed.
 * @throws WORKFLOW_NOT_FOUND if the list is empty and the workflow doesn't exist
 */
export const listedOf = async <T>(context: Context, slug: string, list: readonly T[]): Promise<readonly T[]> => {
  if (list.length === 0) await readableWorkflow(context, slug);
  return list;
};

/**
 * Creation time of the workflow that has the slug now. Earlier runs belong to a deleted workflow.
 * @returns undefined if the caller can't read it
 */
export const createdAtOf = async (context: Context, slug: string): Promise<Date | undefined> =>
  (await unlessNotFound(readableWorkflow(context, slug)))?.createdAt;
