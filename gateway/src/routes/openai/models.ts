import { isSlug, LIMITS, workflowNotFound } from "@nodeloom/kernel";
import { workflows, type models } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound } from "../../http/errors";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { listQuery } from "../../http/schemas";
import { selectedGraph } from "../workflows/selection";
import { mayRun, partsOfName, WORKFLOW } from "./target";

/** Time in seconds. OpenAI's libraries require a value, and registry entries have none. */
const CREATED = 0;
const OWNER = "nodeloom";

const listed = z
  .object({
    id: z.string().meta({ description: "Value for `model`", example: "sandbox-image" }),
    object: z.literal("model"),
    created: z.number().int(),
    owned_by: z.string(),
  })
  .meta({ id: "OpenAiModel" });

const modelView = ({ internalName, company }: Pick<models.Model, "internalName" | "company">): z.infer<typeof listed> => ({
  ...{ id: internalName, object: "model", created: CREATED },
  owned_by: company || OWNER,
});
const workflowView = (name: string, caller: Caller): z.infer<typeof listed> => ({
  ...{ id: `${WORKFLOW}${name}`, object: "model", created: CREATED },
  owned_by: caller.user.id,
});

/**
 * Resolves a name.
 * @throws DomainError MODEL_NOT_FOUND, WORKFLOW_NOT_FOUND, ALIAS_NOT_FOUND, also for targets that the caller can't run
 */
const find = async (gateway: Gateway, caller: Caller, name: string): Promise<z.infer<typeof listed>> => {
  const { kind, id, alias } = partsOfName(name);
  if (!isSlug(id) || !mayRun(caller, kind, id)) throw kind === "workflow" ? workflowNotFound() : modelNotFound(name);
  if (kind === "workflow") {
    await gateway.services.workflows.getSchema({ slug: id, userId: caller.user.id, ...selectedGraph(caller, { alias }) });
    return workflowView(name.slice(WORKFLOW.length), caller);
  }
  const { model } = await gateway.services.models.getModel({ internalName: id, includeDisabled: false });
  if (!model) throw modelNotFound(name);
  return modelView(model);
};

const reading = { method: "GET", tag: "OpenAI", auth: "any", role: "viewer", limit: "user", protocol: "openai" } as const satisfies Partial<
  RouteDefinition<"any">
>;

export const openAiModelRoutes = [
  defineRoute({
    ...reading,
    path: "/v1/models",
    query: listQuery(),
    operationId: "openaiListModels",
    summary: "List the values for `model`: models and own workflows that the caller can run",
    responses: { 200: z.object({ object: z.literal("list"), data: z.array(listed) }).meta({ id: "OpenAiModels" }) },
    handler: async ({ gateway, caller }) => {
      const [{ models }, { workflows: own }] = await Promise.all([
        gateway.services.models.listModels({ includeDisabled: false }),
        gateway.services.workflows.listWorkflows(
          workflows.ListWorkflowsRequest.fromPartial({ userId: caller.user.id, own: true, limit: LIMITS.pageRows }),
        ),
      ]);
      const data = [
        ...models.filter(({ internalName }) => mayRun(caller, "model", internalName)).map(modelView),
        ...own.filter((one) => mayRun(caller, "workflow", one.slug)).map((one) => workflowView(one.slug, caller)),
      ];
      return { status: 200, body: { object: "list", data } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/v1/models/:model",
    operationId: "openaiGetModel",
    summary: "Read a model, or a workflow by its escaped name (`workflow%2F<slug>`)",
    params: { schema: z.object({ model: z.string().meta({ example: "sandbox-image" }) }), invalid: () => modelNotFound("of that name") },
    responses: { 200: listed },
    errors: ["MODEL_NOT_FOUND", "WORKFLOW_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => ({ status: 200, body: await find(gateway, caller, params.model) }),
  }),
  defineRoute({
    ...reading,
    path: "/v1/models/workflow/:slug",
    operationId: "openaiGetWorkflow",
    summary: "Get a workflow that `model` can name, with or without an alias (`<slug>@<alias>`)",
    params: { schema: z.object({ slug: z.string().meta({ example: "my-workflow" }) }), invalid: workflowNotFound },
    responses: { 200: listed },
    errors: ["WORKFLOW_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => ({ status: 200, body: await find(gateway, caller, `${WORKFLOW}${params.slug}`) }),
  }),
];
