import { executionNotFound } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { asVisitorSees } from "../../apps/executions";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";

/** An execution of the caller, as the caller may see it. @throws DomainError EXECUTION_NOT_FOUND */
export const ownExecution = async (
  { gateway, caller }: { gateway: Pick<Gateway, "services">; caller: Pick<Caller, "user"> & Partial<Pick<Caller, "visitor">> },
  executionId: string,
): Promise<executions.Execution> => {
  const { execution } = await gateway.services.executions.getExecution({ executionId, userId: caller.user.id });
  if (!execution) throw executionNotFound();
  return caller.visitor ? asVisitorSees(execution, caller.visitor) : execution;
};
