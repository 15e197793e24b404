import { unlessNotFound } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import type { CallContext } from "../../edge/route";

type Context = Pick<CallContext<"any">, "gateway" | "caller">;

/** A workflow of the caller's own, or a template. @throws WORKFLOW_NOT_FOUND */
export const readableWorkflow = async ({ gateway, caller }: Context, slug: string): Promise<workflows.Workflow> => {
  const { workflow } = await gateway.services.workflows.getWorkflow({ slug, userId: caller.user.id });
  if (!workflow) throw new Error("workflows answered without a workflow");
  return workflow;
};

/**
 * What a list of a workflow has. What a deleted workflow has left is still listed, so that it can be removed.
 * @throws WORKFLOW_NOT_FOUND where the list is empty and there is no such workflow
 */
export const listedOf = async <T>(context: Context, slug: string, list: readonly T[]): Promise<readonly T[]> => {
  if (list.length === 0) await readableWorkflow(context, slug);
  return list;
};

/**
 * When the workflow was created that has a slug now. Earlier runs are of a deleted one that had the same slug.
 * @returns undefined where the caller can't read such a workflow
 */
export const createdAtOf = async (context: Context, slug: string): Promise<Date | undefined> =>
  (await unlessNotFound(readableWorkflow(context, slug)))?.createdAt;
