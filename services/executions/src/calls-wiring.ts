import { join } from "node:path";
import type { MediaUrls } from "@nodeloom/kernel";
import {
  createAddressRules,
  createClusterSlots,
  createEgressClient,
  createOutgoingBudget,
  createOwnServers,
  createSlots,
  createWindowCounter,
  OUTGOING_WINDOW_SECONDS,
  pollsPerSecond,
  type AddressRulesOptions,
  type Logger,
  type Redis,
} from "@nodeloom/platform";
import { createProvider, type Provider } from "@nodeloom/providers";
import { LRUCache } from "lru-cache";
import type { Services } from "./clients";
import type { Execution } from "./lifecycle/execution";
import { createModeration } from "./moderation/moderation";
import type { ModerationConfig } from "./moderation/settings";
import type { CatalogModel, ModelCatalog } from "./plan/model-catalog";
import { createReuse } from "./reuse";
import type { EventChannel } from "./record/runs/channel";
import type { Stores } from "./record/stores";
import { DOWNLOADS } from "./calls/call";
import { createGates } from "./calls/gates";
import { createInputFiles } from "./calls/input-files";
import { createMaskConversion, createVectorConversion } from "./calls/mask-files";
import { createOutgoing } from "./workflow/step-failures";
import { createOwnFiles } from "./calls/own-files";
import { createPace } from "./calls/pace";
import { createKeyTest, createProviderKeys } from "./calls/provider-keys";
import { openSpool } from "./calls/spool";
import { createSharedOutages } from "./calls/shared-outages";
import { createSubmissions } from "./calls/submissions";
import { createTextStreams } from "./calls/text-streams";
import { createPrograms, createProgramVersion, createRequirePrograms } from "./calls/transforms";
import { createCalls } from "./calls/ways";

const CACHED_PROVIDERS = 500;
const MIB = 1_048_576;

export interface CallsConfig extends ModerationConfig {
  PROVIDER_EGRESS_ALLOW: AddressRulesOptions["allow"];
  USER_EGRESS_ALLOW: AddressRulesOptions["allow"];
  MONGODB_DATABASE_PREFIX: string;
  REDIS_KEY_PREFIX: string;
  EXECUTIONS_DATA_DIR: string;
  EXECUTIONS_SPOOL_MB: number;
  WORKER_POLLS?: number | undefined;
  EXECUTIONS_REPLICAS: number;
}

export interface CallsFloorOptions {
  config: CallsConfig;
  services: Pick<Services, "identity" | "media" | "models" | "transform">;
  stores: Stores;
  redis: Redis;
  channel: EventChannel;
  execution: Execution;
  catalog: ModelCatalog;
  /** Rules for addresses that users enter. */
  addresses: AddressRulesOptions & { own: string };
  urls: MediaUrls;
  logger: Logger;
}

export const wireCalls = async ({
  config,
  services,
  stores,
  redis,
  channel,
  execution,
  catalog,
  addresses,
  urls,
  logger,
}: CallsFloorOptions) => {
  const { identity, media, models } = services;
  const { own } = addresses;
  const egress = createEgressClient({ allow: config.PROVIDER_EGRESS_ALLOW });
  const userEgress = createEgressClient({ allow: config.USER_EGRESS_ALLOW });
  const ownServers = createOwnServers();
  const dialects = { egress, ownServers, secret: createProviderKeys(identity) };
  const providers = new LRUCache<string, Provider>({
    max: CACHED_PROVIDERS,
    memoMethod: (providerJson) => createProvider(providerJson, dialects),
  });
  const moderation = createModeration({
    ...{ config, store: stores.moderation, media, transform: services.transform, own, urls, logger },
    egressOf: ownServers.clientOf,
  });
  const { storage = media, transform = services.transform } = moderation ?? {};
  const spool = await openSpool({
    ...{ folder: join(config.EXECUTIONS_DATA_DIR, `${config.MONGODB_DATABASE_PREFIX}spool`), maxBytes: config.EXECUTIONS_SPOOL_MB * MIB },
    ...{ media: storage, rows: stores.rows, logger },
  });
  const shared = { redis, keyPrefix: config.REDIS_KEY_PREFIX };
  const cluster = {
    slots: createClusterSlots({ ...shared, processes: config.EXECUTIONS_REPLICAS }),
    outages: createSharedOutages({ ...shared, logger }),
  };
  const gates = createGates(logger, (name) => process.env[name], cluster);
  const [downloads, pace, textStreams] = [createSlots(DOWNLOADS), createPace(pollsPerSecond(config)), createTextStreams(channel)];
  const calls = createCalls({
    ...{ catalog, media, storage, downloads, own, pace, textStreams, identity, userEgress, transform, spool },
    provider: (model: CatalogModel) => providers.memo(model.providerJson),
    gate: (model: CatalogModel) => gates(model.providerJson),
    submissions: createSubmissions(stores),
    addresses: createAddressRules(addresses),
    ownFiles: createOwnFiles(media, urls),
    sendFiles: createInputFiles({
      ...{ ...dialects, media, own, downloads },
      convertMask: createMaskConversion(services.transform),
      convertVector: createVectorConversion(services.transform),
    }),
  });
  const programs = createPrograms(services.transform);
  const counts = { redis, keyPrefix: `${config.REDIS_KEY_PREFIX}outgoing`, windowSeconds: OUTGOING_WINDOW_SECONDS };
  return {
    calls: moderation?.calls(calls) ?? calls,
    ...createReuse({
      ...{ stores, media, own, urls, catalog, execution },
      programVersion: createProgramVersion(programs),
      earlier: moderation?.earlier,
    }),
    moderation,
    isUnavailable: gates.isUnavailable,
    nextTrial: gates.nextTrial,
    requirePrograms: createRequirePrograms(programs),
    outgoing: createOutgoing(createOutgoingBudget({ counter: createWindowCounter(counts) })),
    testProviderKey: createKeyTest({ ...dialects, models }),
    textStreams,
    watched: {
      pools: { downloads, ...(moderation ? { moderation: moderation.slots } : {}) },
      providers: gates.states,
      jobs: pace.followed,
      areLimitsShared: cluster.slots.isShared,
    },
    close: async (): Promise<void> => {
      textStreams.stop();
      cluster.outages.stop();
      await spool.stop();
      await Promise.all([cluster.slots.stop(), egress.close(), ownServers.close(), userEgress.close()]);
    },
  };
};
