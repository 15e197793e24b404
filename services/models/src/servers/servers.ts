import { DomainError, invalidRequest } from "@nodeloom/kernel";
import type { OwnServers } from "@nodeloom/platform";
import { z } from "zod";
import { importWorkflow, inspectWorkflow, type NewWorkflow, type ReadWorkflow } from "./comfyui/import";
import type { ModelStatus } from "../local-models";
import type { RegisteredModel } from "../registry";
import { entriesOf } from "./entries";
import { createHealth } from "./health";
import { askServer, listServer, ServerProblem } from "./listing";
import {
  isServerId,
  keyNameOf,
  LIMITS_OF_SERVERS,
  SERVER_KINDS,
  serverName,
  serverUrl,
  slugOf,
  TASKS,
  type ListedModel,
  type ModelChoice,
  type ServerKind,
  type ServerRecord,
} from "./server-record";
import type { ServerChange, ServerStore } from "./store";

/** How long a change by another replica can remain unnoticed. */
const FRESH_MS = 1_000;
const CHANGE_ATTEMPTS = 5;

export interface NewServer {
  kind: string;
  url: string;
  name: string;
  hasKey: boolean;
}
export interface ServerUpdate {
  name?: string | undefined;
  url?: string | undefined;
  hasKey?: boolean | undefined;
  models: readonly { id: string; task: string; sees?: boolean | undefined }[];
}

export interface ServersOptions {
  store: ServerStore;
  servers: OwnServers;
  /** Returns a platform key by name, if it was stored for this URL. */
  secret: (name: string, url: string) => Promise<string | undefined>;
  onStale?: (error: unknown) => void;
  now?: () => number;
}

const isSameOrigin = (one: string, other: string): boolean => new URL(one).origin === new URL(other).origin;

const notFound = (id: string): DomainError => new DomainError("not_found", "NOT_FOUND", `there is no model server ${id}`);

const checked = <T>(path: string, schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(({ message }) => ({ path, message })));
};
const kindOf = (kind: string): ServerKind => checked("kind", z.enum(SERVER_KINDS), kind);

const withChoices = ({ choices, listed }: ServerRecord, models: ServerUpdate["models"]): ModelChoice[] => {
  const byId = new Map(choices.map((choice) => [choice.id, choice]));
  for (const [index, { id, task, sees }] of models.entries()) {
    if (!listed.some((model) => model.id === id))
      throw invalidRequest([{ path: `models.${index}.id`, message: `the server has no model ${id}` }]);
    const makes = checked(`models.${index}.makes`, z.enum(TASKS), task);
    byId.set(id, { ...byId.get(id), id, task: makes, ...(sees === undefined ? {} : { sees }) });
  }
  return [...byId.values()];
};

export type Servers = Awaited<ReturnType<typeof createServers>>;

/** Model servers of the installation and the entries of their models. */
export const createServers = async ({ store, servers, secret, onStale = () => undefined, now = Date.now }: ServersOptions) => {
  let records = await store.list();
  let revision = await store.revision();
  let entries: ReadonlyMap<string, RegisteredModel> = new Map();
  let checkedAt = now();
  let checking: Promise<void> | undefined;

  const keyOf = ({ _id, url, hasKey }: Pick<ServerRecord, "_id" | "url" | "hasKey">): Promise<string | undefined> =>
    hasKey ? secret(keyNameOf(_id), url) : Promise.resolve(undefined);
  const health = createHealth({
    servers,
    keyOf,
    onListed: (server, listed) => store.setListed(server, listed).then(read),
    onError: onStale,
    now,
  });

  const accept = (newer: ServerRecord[]): void => {
    records = newer;
    entries = new Map(newer.flatMap(entriesOf).map((model) => [model.internalName, model]));
    health.keep(newer);
  };
  async function read(): Promise<void> {
    const newest = await store.revision();
    accept(await store.list());
    revision = newest;
  }
  const refresh = async (): Promise<void> => {
    try {
      if ((await store.revision()) !== revision) await read();
    } catch (error) {
      onStale(error);
    } finally {
      checkedAt = now();
      checking = undefined;
    }
  };
  accept(records);

  const current = async (): Promise<readonly ServerRecord[]> => {
    if (now() - checkedAt >= FRESH_MS) await (checking ??= refresh());
    // Refresh in the background, for the next reader.
    for (const server of records) void health.statusOf(server);
    return records;
  };

  const requireServer = async (id: string): Promise<ServerRecord> => {
    const server = await store.find(id);
    if (!server) throw notFound(id);
    return server;
  };
  /** Changes a server's current state in one conditional update. */
  const change = async (
    id: string,
    changeOf: (server: ServerRecord) => Promise<ServerChange> | ServerChange,
  ): Promise<{ before: ServerRecord; after: ServerRecord }> => {
    for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt += 1) {
      const before = await requireServer(id);
      const after = await store.change(id, before.revision, await changeOf(before));
      if (!after) continue;
      await read();
      return { before, after };
    }
    throw new DomainError("conflict", "PRECONDITION_FAILED", `the server ${id} is being changed by others: try again`);
  };
  const asker =
    (server: ServerRecord) =>
    async (path: string): Promise<unknown> =>
      askServer(servers, `${server.url}${path}`, await keyOf(server));
  const comfy = async (id: string): Promise<ServerRecord> => {
    const server = await requireServer(id);
    if (server.kind !== "comfyui") throw invalidRequest([{ path: "id", message: "only servers of the kind comfyui have workflows" }]);
    return server;
  };

  return {
    list: current,
    statusOf: health.statusOf,
    /** Returns entries from the last listing. */
    models: (): ReadonlyMap<string, RegisteredModel> => entries,
    version: (): string => revision,
    /** Returns the state of the server that runs a model. */
    statusOfModel: async ({ provider }: RegisteredModel): Promise<ModelStatus> => {
      const server = records.find(({ _id }) => _id === provider.server?.id);
      return server ? health.statusOf(server) : { state: "away", reason: "its server was removed", retryAfterSeconds: 0 };
    },

    /** @throws DomainError INVALID_REQUEST, ALREADY_EXISTS, PRECONDITION_FAILED at the limit */
    add: async ({ kind: kindName, url, name, hasKey }: NewServer): Promise<ServerRecord> => {
      const kind = kindOf(kindName);
      const called = checked("name", serverName, name);
      const id = slugOf(called);
      if (!isServerId(id)) throw invalidRequest([{ path: "name", message: "must have letters or digits in it" }]);
      const address = checked("url", serverUrl(kind), url);
      if ((await store.list()).length >= LIMITS_OF_SERVERS.servers)
        throw new DomainError(
          "precondition",
          "PRECONDITION_FAILED",
          `no more than ${LIMITS_OF_SERVERS.servers} servers can be added: remove one`,
        );
      const at = new Date(now());
      const empty = { listed: [], choices: [], workflows: [], revision: 0, fromEnvironment: false };
      await store.insert({ ...empty, _id: id, kind, name: called, url: address, hasKey, createdAt: at, updatedAt: at });
      await read();
      return requireServer(id);
    },
    update: (id: string, { name, url, hasKey, models }: ServerUpdate) =>
      change(id, (server) => {
        if (server.fromEnvironment && (name !== undefined || url !== undefined))
          throw invalidRequest([{ path: url === undefined ? "name" : "url", message: "is set by the environment (MODEL_SERVERS)" }]);
        const address = url === undefined ? server.url : checked("url", serverUrl(server.kind), url);
        return {
          ...(name === undefined ? {} : { name: checked("name", serverName, name) }),
          url: address,
          // A key belongs to one scheme, host and port. A new address needs a new key.
          hasKey: hasKey ?? (server.hasKey && isSameOrigin(address, server.url)),
          ...(models.length === 0 ? {} : { choices: withChoices(server, models) }),
        };
      }),
    remove: async (id: string): Promise<ServerRecord> => {
      if ((await requireServer(id)).fromEnvironment)
        throw invalidRequest([{ path: "id", message: "it is named by the environment: take it out of MODEL_SERVERS" }]);
      const removed = await store.remove(id);
      if (!removed) throw notFound(id);
      await read();
      return removed;
    },
    /** Probes a server before it is added. @returns its models, or the problem */
    test: async ({
      kind: kindName,
      url,
      key,
    }: {
      kind: string;
      url: string;
      key?: string | undefined;
    }): Promise<{ models: ListedModel[]; problem?: string }> => {
      const kind = kindOf(kindName);
      const address = checked("url", serverUrl(kind), url);
      try {
        return { models: await listServer(servers, { kind, url: address }, key) };
      } catch (error) {
        if (error instanceof ServerProblem) return { models: [], problem: error.message };
        throw error;
      }
    },
    /** Probes a server immediately and stores its models. */
    check: async (id: string): Promise<{ server: ServerRecord; status: ModelStatus }> => {
      const status = await health.ask(await requireServer(id));
      return { server: await requireServer(id), status };
    },

    inspectWorkflow: async (id: string, workflow: string): Promise<ReadWorkflow> => inspectWorkflow(workflow, asker(await comfy(id))),
    /** Adds a workflow. A workflow with the same name is replaced. */
    putWorkflow: async (id: string, newWorkflow: NewWorkflow) => {
      const stored = await importWorkflow({ ...newWorkflow, name: checked("name", serverName, newWorkflow.name) }, asker(await comfy(id)));
      return change(id, ({ workflows }) => {
        const others = workflows.filter(({ slug }) => slug !== stored.slug);
        if (others.length >= LIMITS_OF_SERVERS.workflows)
          throw new DomainError(
            "precondition",
            "PRECONDITION_FAILED",
            `a server has at most ${LIMITS_OF_SERVERS.workflows} workflows: remove one`,
          );
        return { workflows: [...others, stored] };
      });
    },
    removeWorkflow: (id: string, slug: string) =>
      change(id, ({ workflows }) => {
        if (!workflows.some((one) => one.slug === slug))
          throw new DomainError("not_found", "NOT_FOUND", `the server has no workflow ${slug}`);
        return { workflows: workflows.filter((one) => one.slug !== slug) };
      }),
  };
};
