import { SECRET_BOUNDS } from "@nodeloom/kernel";
import { modelServers } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute } from "../../edge/route";
import { headerValue, line, listQuery, slug, type ParamsSpec } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { forAdmins } from "../admin/shared";
import { assertKeysCanBeKept, putKey, removeKey } from "./keys";
import { KINDS, MAKES, modelServer, modelView, recorded, serverModel, serverView } from "./view";
import { jsonBody } from "../../http/body/kinds";

const MAX_URL_CHARS = 500;
const MAX_NAME_CHARS = 60;
const MAX_CHOICES = 500;

const url = z.string().min(1).max(MAX_URL_CHARS).meta({ example: "http://192.168.1.20:11434/v1" });
const name = line(MAX_NAME_CHARS).trim().min(1).meta({ example: "GPU box" });
const key = headerValue(SECRET_BOUNDS.valueChars);
const kind = z.enum(KINDS);

const newServer = z.strictObject({ kind, url, name, key: key.optional() }).meta({ id: "NewModelServer" });
const tested = z.strictObject({ kind, url, key: key.optional() }).meta({ id: "ModelServerAddress" });
const choice = z.strictObject({ id: z.string().min(1), makes: z.enum(MAKES), sees: z.boolean().optional() });
const changes = z
  .strictObject({
    name: name.optional(),
    url: url.optional(),
    key: key.nullable().optional(),
    models: z.array(choice).max(MAX_CHOICES).optional(),
  })
  .meta({ id: "ModelServerChanges" });
const testResult = z
  .object({
    works: z.boolean(),
    message: z.string().nullable().meta({ description: "Reason why it can't be used" }),
    models: z.array(serverModel),
  })
  .meta({ id: "ModelServerTest" });

const params: ParamsSpec<{ id: string }> = {
  schema: z.object({ id: slug.meta({ example: "gpu-box" }) }),
  invalid: () => notFound("model server"),
};
export const ofServer = { ...forAdmins, path: "/api/admin/model-servers/:id", params } as const;

/** @throws Error if there is no server */
export const required = (server: modelServers.ModelServer | undefined): modelServers.ModelServer => {
  if (!server) throw new Error("models answered without a server");
  return server;
};

export const modelServerRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/model-servers",
    query: listQuery(),
    operationId: "adminListModelServers",
    summary: "List the servers of models that this installation has itself",
    responses: { 200: z.array(modelServer) },
    handler: async ({ gateway }) => {
      const { servers } = await gateway.services.models.listServers({});
      return { status: 200, body: servers.map(serverView) };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "POST",
    path: "/api/admin/model-servers",
    operationId: "adminAddModelServer",
    summary: "Add a server of models",
    description:
      "An OpenAI-compatible server (Ollama, LM Studio, vLLM, llama.cpp, LocalAI) or ComfyUI. It can be in a private network: Nodeloom then calls only its host and port, for its models. The models are free until they have a price.",
    body: jsonBody(newServer),
    responses: { 201: modelServer },
    errors: ["ALREADY_EXISTS", "NOT_CONFIGURED", "PRECONDITION_FAILED"],
    example: { kind: "openai", url: "http://192.168.1.20:11434/v1", name: "GPU box" },
    handler: async (context) => {
      const { body, gateway } = context;
      const { key: value, ...server } = body;
      if (value !== undefined) await assertKeysCanBeKept(context);
      const action = { action: "model-server.add", target: body.name, change: { ...server, hasKey: value !== undefined } };
      const added = await audited(context, action, async () => {
        const { models } = gateway.services;
        const stored = required((await models.addServer({ ...server, hasKey: value !== undefined })).server);
        if (value !== undefined) await putKey(context, stored, value);
        const checked = required((await models.checkServer({ id: stored.id })).server);
        return { value: checked, after: recorded(checked) };
      });
      return { status: 201, body: serverView(added) };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "POST",
    path: "/api/admin/model-servers/test",
    operationId: "adminTestModelServer",
    summary: "Check a server and list its models without adding it",
    body: jsonBody(tested),
    responses: { 200: testResult },
    example: { kind: "comfyui", url: "http://192.168.1.20:8188" },
    handler: async ({ body, gateway }) => {
      const { problem, models } = await gateway.services.models.testServer({ ...body, key: body.key ?? "" });
      return { status: 200, body: { works: problem === "", message: problem || null, models: models.map(modelView) } };
    },
  }),
  defineRoute({
    ...ofServer,
    method: "GET",
    operationId: "adminGetModelServer",
    summary: "Refresh the list of a server's models",
    responses: { 200: modelServer },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, params: { id } }) => {
      const { server } = await gateway.services.models.checkServer({ id });
      return { status: 200, body: serverView(required(server)) };
    },
  }),
  defineRoute({
    ...ofServer,
    method: "PATCH",
    operationId: "adminUpdateModelServer",
    summary: "Change a server or the use of its models",
    description:
      "`key: null` removes its key. So does another scheme, host or port: send the key again with it. You can't change the name and address of a server from the environment.",
    body: jsonBody(changes),
    responses: { 200: modelServer },
    errors: ["NOT_FOUND", "NOT_CONFIGURED", "PRECONDITION_FAILED"],
    example: { models: [{ id: "flux.1-schnell", makes: "image" }] },
    handler: async (context) => {
      const { body, gateway, params: target } = context;
      const { key: value, ...change } = body;
      if (value) await assertKeysCanBeKept(context);
      const hasKey = value === undefined ? undefined : value !== null;
      const action = {
        action: "model-server.update",
        target: target.id,
        change: { ...change, ...(hasKey === undefined ? {} : { hasKey }) },
      };
      const changed = await audited(context, action, async () => {
        const { models } = gateway.services;
        const request = modelServers.UpdateServerRequest.fromPartial({ id: target.id, name: change.name, url: change.url, hasKey });
        const { server, before } = await models.updateServer({
          ...request,
          models: (change.models ?? []).map((one) => ({ ...one, sees: one.sees })),
        });
        const stored = required(server);
        if (value) await putKey(context, stored, value);
        if (value === null || (before?.hasKey && !stored.hasKey)) await removeKey(context, target.id);
        const current = hasKey === undefined ? stored : required((await models.checkServer({ id: target.id })).server);
        return { value: current, before: before && recorded(before), after: recorded(current) };
      });
      return { status: 200, body: serverView(changed) };
    },
  }),
  defineRoute({
    ...ofServer,
    method: "DELETE",
    operationId: "adminDeleteModelServer",
    summary: "Remove a server and its models",
    description: "Active runs that need one of its models fail at their next call.",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, params: target } = context;
      await audited(context, { action: "model-server.delete", target: target.id }, async () => {
        const removed = required((await gateway.services.models.removeServer({ id: target.id })).server);
        await removeKey(context, target.id);
        return { value: undefined, before: recorded(removed) };
      });
      return { status: 204 };
    },
  }),
];
