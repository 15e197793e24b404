import { modelServers } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute } from "../../edge/route";
import { anyObject, line, slug, type ParamsSpec } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { forAdmins } from "../admin/shared";
import { ofServer, required } from "./routes";
import { inputView, keepMetadata, modelServer, recorded, serverView, workflowInput } from "./view";
import { jsonBody } from "../../http/body/kinds";

/** Workflows of ComfyUI servers; each becomes a model. */

const MAX_NAME_CHARS = 60;
const MAX_INPUTS = 100;
const MODALITIES = ["image", "video", "audio"] as const;

const workflow = anyObject.meta({ description: "A workflow in the format of ComfyUI's API (Workflow → Export (API))" });
const chosenInput = z.strictObject({ name: z.string().min(1), node: z.string().min(1), input: z.string().min(1) });
const newWorkflow = z
  .strictObject({
    name: line(MAX_NAME_CHARS).trim().min(1),
    workflow,
    inputs: z.array(chosenInput).max(MAX_INPUTS).optional().meta({ description: "Default: the values of nodes with a custom title" }),
    modality: z.enum(MODALITIES).optional().meta({
      description: "Default: derived from its nodes; required if they don't determine it. Animated WebP, PNG and GIF files are images",
    }),
    keepMetadata: keepMetadata
      .optional()
      .meta({ description: "Keeps the workflow that ComfyUI embeds in its files. By default it is removed" }),
  })
  .meta({ id: "NewServerWorkflow" });
const inspection = z.object({ inputs: z.array(workflowInput), modality: z.enum(MODALITIES).nullable() }).meta({ id: "WorkflowInspection" });
const EXAMPLE = { "6": { class_type: "CLIPTextEncode", inputs: { text: "a loom", clip: ["4", 1] }, _meta: { title: "Prompt" } } };

const params: ParamsSpec<{ id: string; workflow: string }> = {
  schema: z.object({ id: slug.meta({ example: "gpu-box" }), workflow: slug.meta({ example: "portrait" }) }),
  invalid: () => notFound("workflow"),
};

export const serverWorkflowRoutes = [
  defineRoute({
    ...ofServer,
    method: "POST",
    path: "/api/admin/model-servers/:id/workflows/inspect",
    operationId: "adminInspectServerWorkflow",
    summary: "List the possible inputs of a ComfyUI workflow",
    body: jsonBody(z.strictObject({ workflow }).meta({ id: "ServerWorkflow" }), { lossless: ["workflow"] }),
    responses: { 200: inspection },
    errors: ["NOT_FOUND"],
    example: { workflow: EXAMPLE },
    handler: async ({ gateway, params: { id }, members }) => {
      const workflowJson = members().get("workflow") ?? "";
      const { inputs, modality } = await gateway.services.models.inspectWorkflow({ id, workflowJson });
      return { status: 200, body: { inputs: inputs.map(inputView), modality: modality || null } };
    },
  }),
  defineRoute({
    ...ofServer,
    method: "POST",
    path: "/api/admin/model-servers/:id/workflows",
    operationId: "adminPutServerWorkflow",
    summary: "Create or replace a model from a ComfyUI workflow",
    body: jsonBody(newWorkflow, { lossless: ["workflow"] }),
    responses: { 201: modelServer },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { name: "Portrait", workflow: EXAMPLE, inputs: [{ name: "prompt", node: "6", input: "text" }], modality: "image" },
    handler: async (context) => {
      const { gateway, params: target, body, members } = context;
      const { name, inputs = [], modality = "", keepMetadata: keeps } = body;
      const action = { action: "model-server.workflow.put", target: target.id, change: { name, inputs, modality, keepMetadata: keeps } };
      const server = await audited(context, action, async () => {
        const request = modelServers.PutWorkflowRequest.fromPartial({ id: target.id, name, modality, inputs, keepMetadata: keeps });
        const answer = await gateway.services.models.putWorkflow({ ...request, workflowJson: members().get("workflow") ?? "" });
        const stored = required(answer.server);
        return { value: stored, before: answer.before && recorded(answer.before), after: recorded(stored) };
      });
      return { status: 201, body: serverView(server) };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "DELETE",
    path: "/api/admin/model-servers/:id/workflows/:workflow",
    params,
    operationId: "adminDeleteServerWorkflow",
    summary: "Remove the model of a ComfyUI workflow",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, params: target } = context;
      await audited(context, { action: "model-server.workflow.delete", target: `${target.id}/${target.workflow}` }, async () => {
        const { server, before } = await gateway.services.models.removeWorkflow({ id: target.id, slug: target.workflow });
        return { value: undefined, before: before && recorded(before), after: server && recorded(server) };
      });
      return { status: 204 };
    },
  }),
];
