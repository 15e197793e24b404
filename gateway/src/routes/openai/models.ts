import { LIMITS } from "@nodeloom/kernel";
import { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../http/route";
import { mayRun } from "./target";

/** Seconds; OpenAI's libraries ask for one, and entries of the registry have none. */
const CREATED = 0;
const OWNER = "nodeloom";

const listed = z.object({
  id: z.string().meta({ description: "What `model` may be", example: "sandbox-image" }),
  object: z.literal("model"),
  created: z.number().int(),
  owned_by: z.string(),
});

export const openAiModelRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/models",
    list: true,
    operationId: "openaiListModels",
    summary: "List what `model` may be: models and own workflows that the caller may run",
    tag: "OpenAI",
    auth: "any",
    limit: "user",
    openAi: true,
    responses: { 200: z.object({ object: z.literal("list"), data: z.array(listed) }).meta({ id: "OpenAiModels" }) },
    handler: async ({ gateway, caller }) => {
      const [{ models }, { workflows: own }] = await Promise.all([
        gateway.services.models.listModels({ includeDisabled: false }),
        gateway.services.workflows.listWorkflows(
          workflows.ListWorkflowsRequest.fromPartial({ userId: caller.user.id, own: true, limit: LIMITS.pageRows }),
        ),
      ]);
      const data = [
        ...models
          .filter(({ internalName }) => mayRun(caller, "model", internalName))
          .map(({ internalName, company }) => ({ id: internalName, object: "model", created: CREATED, owned_by: company || OWNER })),
        ...own
          .filter(({ slug }) => mayRun(caller, "workflow", slug))
          .map(({ slug }) => ({
            id: `workflow/${slug}`,
            object: "model",
            created: CREATED,
            owned_by: caller.user.id,
          })),
      ];
      return { status: 200, body: { object: "list", data } };
    },
  }),
];
