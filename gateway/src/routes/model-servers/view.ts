import type { modelServers } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, slug } from "../../http/schemas";

export const KINDS = ["openai", "comfyui"] as const;
export const MAKES = ["chat", "image", "speech", "transcribe", "none"] as const;
const MODALITIES = ["image", "video", "audio"] as const;

export const serverModel = z
  .object({
    id: z.string().meta({ description: "The server's name of the model", example: "llama3.2:3b" }),
    makes: z.enum(MAKES).meta({ description: "Use of the model; `none` if it isn't offered" }),
    sees: z.boolean().meta({ description: "True if it accepts images" }),
    internalName: slug.nullable().meta({ description: "Its name in graphs; null if it isn't offered", example: "gpu-box-llama3-2-3b" }),
  })
  .meta({ id: "ServerModel" });

export const keepMetadata = z.boolean().meta({ description: "True if its files keep the workflow that ComfyUI embeds in them" });

const workflow = z.object({
  slug,
  name: z.string(),
  modality: z.enum(MODALITIES),
  internalName: slug.meta({ description: "Its name in graphs" }),
  inputs: z.array(z.string()),
  keepMetadata,
});

export const modelServer = z
  .object({
    id: slug,
    kind: z.enum(KINDS),
    name: z.string(),
    url: z.string(),
    hasKey: z.boolean(),
    fromEnvironment: z.boolean().meta({ description: "True if `MODEL_SERVERS` names it" }),
    status: z.enum(["ready", "away"]),
    statusReason: z.string().nullable().meta({ description: "Reason why it can't be used now" }),
    models: z.array(serverModel).meta({ description: "Models that an OpenAI-compatible server lists" }),
    workflows: z.array(workflow).meta({ description: "Workflows of a ComfyUI server" }),
  })
  .meta({ id: "ModelServer" });

export const modelView = ({ internalName, makes, ...model }: modelServers.ServerModel): Record<string, unknown> => ({
  ...model,
  makes,
  internalName: makes === "none" ? null : internalName || null,
});

export const serverView = ({ state, reason, models, workflows, ...server }: modelServers.ModelServer): Record<string, unknown> => ({
  ...server,
  workflows: workflows.map((one) => ({ ...one, keepMetadata: one.keepMetadata === true })),
  status: state,
  statusReason: reason || null,
  models: models.map(modelView),
});

/** Members of a server in the audit. */
export const recorded = ({ kind, name, url, hasKey, models, workflows }: modelServers.ModelServer): Record<string, unknown> => ({
  kind,
  name,
  url,
  hasKey,
  models: Object.fromEntries(models.map(({ id, makes }) => [id, makes])),
  workflows: workflows.map((one) => one.slug),
});

export const workflowInput = z
  .object({
    name: z.string().meta({ description: "Name of the model's input", example: "prompt" }),
    node: z.string(),
    input: z.string(),
    title: z.string().meta({ description: "Title of its node" }),
    classType: z.string(),
    value: z.union([z.string(), z.number(), z.boolean()]).meta({ description: "Value in the exported workflow" }),
    titled: z.boolean().meta({ description: "True if its node has a custom title" }),
    schema: anyObject.meta({ description: "JSON Schema of the input" }),
  })
  .meta({ id: "WorkflowInput" });

export const inputView = ({ valueJson, schemaJson, ...input }: modelServers.WorkflowInput): Record<string, unknown> => ({
  ...input,
  value: raw(valueJson),
  schema: raw(schemaJson, "{}"),
});
