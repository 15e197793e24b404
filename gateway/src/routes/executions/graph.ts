/** Graphs of past executions, for callers who can read the workflow. */
import { executionNotFound, isNotFound } from "@nodeloom/kernel";
import { z } from "zod";
import { authorize } from "../../auth/caller";
import { raw } from "../../http/json";
import { defineRoute } from "../../edge/route";
import { anyObject, executionParams } from "../../http/schemas";

const graph = z
  .object({
    nodes: z.array(anyObject).meta({ description: "Nodes as they ran, including the settings of an item of a batch" }),
    edges: z.array(anyObject),
  })
  .meta({ id: "ExecutionGraph" });

export const executionGraphRoute = defineRoute({
  method: "GET",
  path: "/api/executions/:id/graph",
  operationId: "getExecutionGraph",
  summary: "Read the graph that an execution ran",
  description:
    "Returns the graph as it ran, even if the workflow was edited since. It works for workflows that the caller can read, for as long as the execution is kept. A key also needs `workflow:read`.",
  tag: "Executions",
  auth: "any",
  role: "viewer",
  capability: "execution:read",
  limit: "user+id",
  params: executionParams,
  responses: { 200: graph },
  errors: ["EXECUTION_NOT_FOUND"],
  handler: async ({ gateway, caller, params }) => {
    authorize(caller, "any", "workflow:read");
    const { executions, workflows } = gateway.services;
    const {
      workflowSlug: slug,
      nodesJson,
      edgesJson,
    } = await executions.getExecutionGraph({ executionId: params.id, userId: caller.user.id });
    // A public playground shows its schema but no graph.
    await workflows.getWorkflow({ slug, userId: caller.user.id }).catch((error: unknown) => {
      throw isNotFound(error) ? executionNotFound() : error;
    });
    return { status: 200, body: { nodes: raw(nodesJson, "[]"), edges: raw(edgesJson, "[]") } };
  },
});
