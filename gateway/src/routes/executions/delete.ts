import { auditedForOwner } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { executionParams } from "../../http/schemas";

const DELETED = 204;

export const deleteExecutionRoute = defineRoute({
  method: "DELETE",
  path: "/api/executions/:id",
  operationId: "deleteExecution",
  summary: "Delete an execution and its data",
  description:
    "The execution must be final. It is gone for readers at once: polling it returns `404`, and so does repeating its `Idempotency-Key`. Within 10 minutes its inputs, outputs, texts, events, calls, webhook deliveries and files are removed. Files that are kept, or named by a workflow, a version or another execution, stay. Usage and ledger keep ids and amounts, without metadata. A key needs `execution:delete`; one with fixed metadata deletes only executions that carry it.",
  tag: "Executions",
  auth: "any",
  role: "editor",
  capability: "execution:delete",
  limit: "user+id",
  params: executionParams,
  responses: { [DELETED]: null },
  errors: ["EXECUTION_NOT_FOUND", "EXECUTION_NOT_FINAL"],
  handler: async (context) => {
    const { gateway, caller, params } = context;
    const metadata = caller.key?.metadata ?? {};
    await auditedForOwner(context, { action: "execution.delete", target: params.id }, async () => ({
      value: await gateway.services.executions.deleteExecution({ executionId: params.id, userId: caller.user.id, metadata }),
    }));
    return { status: DELETED };
  },
});
