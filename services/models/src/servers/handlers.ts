import { unary } from "@nodeloom/platform";
import type { modelServers as messages, models } from "@nodeloom/proto";
import type { ModelStatus } from "../local-models";
import { entryNames, modelsOf } from "./entries";
import type { ListedModel, ServerRecord } from "./server-record";
import type { Servers } from "./servers";

const modelMessage = ({ id, task, sees }: ListedModel, internalName = ""): messages.ServerModel => ({
  id,
  makes: task,
  sees,
  internalName,
});

const message = (server: ServerRecord, { state, reason }: ModelStatus): messages.ModelServer => {
  const names = entryNames(server);
  return {
    id: server._id,
    kind: server.kind,
    name: server.name,
    url: server.url,
    hasKey: server.hasKey,
    fromEnvironment: server.fromEnvironment,
    state,
    reason,
    models: modelsOf(server).map((model) => modelMessage(model, names.get(model.id))),
    workflows: server.workflows.map(({ slug, name, modality, inputs, keepMetadata }) => ({
      slug,
      name,
      modality,
      keepMetadata,
      internalName: `${server._id}-${slug}`,
      inputs: Object.keys(JSON.parse(inputs) as object),
    })),
  };
};

const NOT_ASKED: ModelStatus = { state: "away", reason: "it has not been checked yet", retryAfterSeconds: 0 };

type Handlers = Pick<
  models.ModelsServiceServer,
  | "listServers"
  | "addServer"
  | "updateServer"
  | "removeServer"
  | "checkServer"
  | "testServer"
  | "inspectWorkflow"
  | "putWorkflow"
  | "removeWorkflow"
>;

export const serverHandlers = (servers: Servers): Handlers => {
  const view = async (server: ServerRecord): Promise<messages.ModelServer> => message(server, await servers.statusOf(server));
  const changed = async ({ before, after }: { before: ServerRecord; after: ServerRecord }) => {
    const status = await servers.statusOf(after);
    return { server: message(after, status), before: message(before, status) };
  };
  return {
    listServers: unary(async () => ({ servers: await Promise.all((await servers.list()).map(view)) })),
    // The server isn't probed yet, because its key is stored after it is added.
    addServer: unary(async (request) => ({ server: message(await servers.add(request), NOT_ASKED) })),
    updateServer: unary(async ({ id, models: choices, ...change }) =>
      changed(await servers.update(id, { ...change, models: choices.map(({ makes, ...choice }) => ({ ...choice, task: makes })) })),
    ),
    removeServer: unary(async ({ id }) => ({
      server: message(await servers.remove(id), { state: "away", reason: "it was removed", retryAfterSeconds: 0 }),
    })),
    checkServer: unary(async ({ id }) => {
      const { server, status } = await servers.check(id);
      return { server: message(server, status) };
    }),
    testServer: unary(async ({ kind, url, key }) => {
      const { models: serverModels, problem = "" } = await servers.test({ kind, url, key: key || undefined });
      return { problem, models: serverModels.map((model) => modelMessage(model)) };
    }),
    inspectWorkflow: unary(async ({ id, workflowJson }) => {
      const { found, modality = "" } = await servers.inspectWorkflow(id, workflowJson);
      const inputs = found.map(({ value, schema, isTitled: titled, ...rest }) => ({
        ...rest,
        titled,
        valueJson: JSON.stringify(value),
        schemaJson: JSON.stringify(schema),
      }));
      return { inputs, modality };
    }),
    putWorkflow: unary(async ({ id, name, workflowJson: workflow, inputs, modality, keepMetadata = false }) =>
      changed(await servers.putWorkflow(id, { name, workflow, inputs, modality, keepMetadata })),
    ),
    removeWorkflow: unary(async ({ id, slug }) => changed(await servers.removeWorkflow(id, slug))),
  };
};
