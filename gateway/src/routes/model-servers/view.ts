import type { modelServers } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, slug } from "../../http/schemas";

export const KINDS = ["openai", "comfyui"] as const;
export const MAKES = ["chat", "image", "speech", "transcribe", "none"] as const;
const MODALITIES = ["image", "video", "audio"] as const;

export const serverModel = z
  .object({
    id: z.string().meta({ description: "What the server calls it", example: "llama3.2:3b" }),
    makes: z.enum(MAKES).meta({ description: "What it is used for; `none`: it is not offered" }),
    sees: z.boolean().meta({ description: "Whether it reads pictures" }),
    internalName: slug.nullable().meta({ description: "Its name in graphs; null where it is not offered", example: "gpu-box-llama3-2-3b" }),
  })
  .meta({ id: "ServerModel" });

export const keepMetadata = z.boolean().meta({ description: "Whether its files keep the workflow that ComfyUI writes into them" });

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
    fromEnvironment: z.boolean().meta({ description: "It is named by `MODEL_SERVERS`" }),
    status: z.enum(["ready", "away"]),
    statusReason: z.string().nullable().meta({ description: "Why it can't be used now" }),
    models: z.array(serverModel).meta({ description: "What an OpenAI-compatible server lists" }),
    workflows: z.array(workflow).meta({ description: "Of a ComfyUI server" }),
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
    name: z.string().meta({ description: "What the model calls it", example: "prompt" }),
    node: z.string(),
    input: z.string(),
    title: z.string().meta({ description: "Of its node" }),
    classType: z.string(),
    value: z.union([z.string(), z.number(), z.boolean()]).meta({ description: "What the workflow was exported with" }),
    titled: z.boolean().meta({ description: "Whether its node has a title of its own" }),
    schema: anyObject.meta({ description: "JSON Schema of the input" }),
  })
  .meta({ id: "WorkflowInput" });

export const inputView = ({ valueJson, schemaJson, ...input }: modelServers.WorkflowInput): Record<string, unknown> => ({
  ...input,
  value: raw(valueJson),
  schema: raw(schemaJson, "{}"),
});
