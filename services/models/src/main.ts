import { join } from "node:path";
import {
  createEgressClient,
  createGrpcClient,
  createOwnServers,
  defineService,
  grpcService,
  addressVariables,
  listenVariable,
  openDatabase,
  PLATFORM_OWNER,
  runProcess,
  serveGrpc,
  variables,
  type Logger,
} from "@nodeloom/platform";
import { identity, models } from "@nodeloom/proto";
import { z } from "zod";
import { database } from "./database";
import { createCatalog } from "./catalog";
import { createImporter } from "./import";
import { createLocalModels } from "./local-models";
import { createConsoleKeys } from "./provider-keys";
import { isRetired } from "./published";
import { ownEntries } from "./own-entries";
import { loadRegistry, type RegisteredModel, type Registry } from "./registry";
import { modelsHandlers } from "./server";
import { modelServers } from "./servers/environment";
import { openServers } from "./servers/open";
import { openServerStore } from "./servers/store";
import { openOverrideStore } from "./store";

/** Deadline for reading a provider key from identity. */
const READ_KEY_MS = 2_000;
const REGISTRY = join(__dirname, "..", "registry");

/** The operator's own service is the only private address that can be called. */
const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
};

const logRetired = ({ models: registered }: Registry, logger: Logger): void => {
  for (const { internalName, retiresOn } of registered.values()) {
    if (isRetired({ retiresOn }, Date.now())) logger.warn({ model: internalName, retiresOn }, "model was shut down by its provider");
  }
};

const logDisabled = ({ models: registered }: Registry, logger: Logger): void => {
  for (const { internalName, missing } of registered.values()) {
    if (missing.length > 0) logger.info({ model: internalName, missing }, "model is disabled: its environment is incomplete");
  }
};

/** Registry of AI models. */
export const service = defineService({
  name: "models",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    ...listenVariable("models"),
    ...addressVariables("models"),
    MODELS_REGISTRY_DIR: z.string().default(REGISTRY).describe("folder of the registry's JSON files"),
    SANDBOX_URL: z.url().optional().describe("base URL of the sandbox provider. Without it, its models are disabled"),
    INFERENCE_URL: z.url().optional().describe("base URL of the local models. Without it, they are disabled"),
    MODEL_SERVERS: modelServers.describe(
      "servers of models in your network: `kind=url` separated by commas, of the kinds `openai` and `comfyui`",
    ),
    INFERENCE_API_KEY: z.string().default("inference").describe("key that the local models expect"),
  },
  start: async ({ config, logger }) => {
    // The registry's files decide which other variables are read.
    const env = { ...process.env, SANDBOX_URL: config.SANDBOX_URL, INFERENCE_URL: config.INFERENCE_URL };
    const registry = await loadRegistry(config.MODELS_REGISTRY_DIR, env);
    logDisabled(registry, logger);
    logRetired(registry, logger);
    const connection = await openDatabase(database, config, logger);
    const store = await openOverrideStore(connection);
    const onStale = (error: unknown): void => logger.warn({ err: error }, "overrides could not be read; the last known ones stay");
    const url = config.INFERENCE_URL?.replace(/(?<!\/)\/+$/, "");
    const egress = createEgressClient({ allow: url === undefined ? [] : [hostOf(url)] });
    const local = createLocalModels({ egress, url, apiKey: config.INFERENCE_API_KEY });
    const address = config.IDENTITY_ADDRESS;
    const secrets = createGrpcClient<identity.IdentityServiceServer>(identity.IdentityServiceService, { address, tls: config });
    const onStaleKeys = (error: unknown): void => logger.debug({ err: error }, "keys of providers could not be listed");
    const consoleKeys = createConsoleKeys({ identity: secrets, onStale: onStaleKeys });
    const ownServers = createOwnServers();
    const servers = await openServers({
      store: openServerStore(connection),
      environmentServers: config.MODEL_SERVERS,
      ownServers,
      identity: secrets,
      logger,
    });
    const onUnreadable = (model: string, problem: string): void =>
      logger.warn({ model, problem }, "an added model can't be read by this release");
    const ownModels = async (): Promise<ReadonlyMap<string, RegisteredModel> | undefined> => {
      const localOwn = await local.own();
      return localOwn && ownEntries(localOwn, url ?? "");
    };
    const catalog = await createCatalog({ registry, store, env, servers, ownModels, consoleKeys, onStale, onUnreadable });
    const readKey = async (name: string): Promise<string | undefined> =>
      process.env[name] || (await secrets.readSecrets({ owner: PLATFORM_OWNER, names: [name] }, { deadlineMs: READ_KEY_MS })).values[name];
    const draft = createImporter({ egress: createEgressClient(), secret: readKey });
    const service = grpcService(models.ModelsServiceService, modelsHandlers(catalog, local, servers, draft));
    const stop = async (): Promise<void> => {
      secrets.close();
      await ownServers.close();
    };
    return serveGrpc({ service, config, listen: "MODELS_LISTEN", connection, logger, stop });
  },
});

if (require.main === module) void runProcess([service]);
