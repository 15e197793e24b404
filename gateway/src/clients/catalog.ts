import {
  autoName,
  estimateMillicredits,
  firstReady,
  isUnavailable,
  TASK_NAMES,
  toCredits,
  type BaseTier,
  type GeneratorUse,
  type JsonSchema,
  type Price,
} from "@nodeloom/kernel";
import { readPrice } from "@nodeloom/platform";
import type { models, workflows } from "@nodeloom/proto";
import { createFreshCache } from "./cache";
import { providerNames, type ProviderNames } from "./provider-names";
import type { Services } from "./services";
import { ranked } from "./ranking";
import { obstacleIn, type Obstacle } from "./obstacles";
import { CATALOGUE_FRESH_MS } from "../http/limits";

type PriceTable = ReadonlyMap<string, { price: Price; inputSchema: JsonSchema }>;

interface Read {
  priced: PriceTable;
  /** Includes disabled models, which can be the reason why a workflow can't run. */
  listed: models.ListModelsResponse;
  names: ProviderNames;
}

const priced = (listed: models.ListModelsResponse): PriceTable => {
  const byName = new Map<string, { price: Price; inputSchema: JsonSchema }>();
  for (const model of listed.models) {
    const price = readPrice(model.price);
    if (price) byName.set(model.internalName, { price, inputSchema: JSON.parse(model.inputSchemaJson) as JsonSchema });
  }
  for (const task of TASK_NAMES) {
    const model = byName.get(firstReady(ranked(task, listed), undefined)?.internalName ?? "");
    if (model) byName.set(autoName(task), model);
  }
  return byName;
};

const toUse = ({ nodeId, model, inputsJson, items }: workflows.GeneratorUse): GeneratorUse => ({
  nodeId,
  model,
  items,
  inputs: inputsJson === "" ? {} : (JSON.parse(inputsJson) as Record<string, unknown>),
});

export type Estimator = (uses: readonly workflows.GeneratorUse[]) => number | null;

export interface Catalog {
  /** Estimates in credits with a markup; at most one registry lookup for any number of workflows. */
  estimator(markupPermille: number): Promise<Estimator>;
  /** Finds the reasons why workflows can't run at a tier (undefined: any tier), with the same lookup. */
  obstacles(tier: BaseTier | undefined): Promise<(uses: readonly workflows.GeneratorUse[]) => Obstacle | undefined>;
  /** Input schemas by model name; empty while the registry is unavailable. */
  inputSchemas(): Promise<ReadonlyMap<string, { inputSchema: JsonSchema }>>;
  /** Maps providers' names of models to models. */
  providerNames(): Promise<ProviderNames>;
}

const REGISTRY = "registry";

/** Prices of enabled models, cached for a few seconds. */
export const createCatalog = (models: Services["models"]): Catalog => {
  const registry = createFreshCache<Read>({
    maxEntries: 1,
    freshMs: CATALOGUE_FRESH_MS,
    staleMs: CATALOGUE_FRESH_MS * 2,
    load: async () => {
      const listed = await models.listModels({ includeDisabled: true });
      const enabled = { ...listed, models: listed.models.filter((model) => model.enabled) };
      return { priced: priced(enabled), listed, names: providerNames(enabled) };
    },
  });
  const read = (): Promise<Read> => registry.get(REGISTRY, REGISTRY);
  return {
    inputSchemas: () =>
      read().then(
        (entry) => entry.priced,
        (error: unknown) => {
          if (!isUnavailable(error)) throw error;
          return new Map<string, { inputSchema: JsonSchema }>();
        },
      ),
    providerNames: async () => (await read()).names,
    obstacles: async (tier) => {
      const { listed } = await read();
      return (uses) => obstacleIn(listed, tier, uses);
    },
    estimator: async (markupPermille) => {
      const { priced: prices } = await read();
      return (uses) => {
        const millicredits = estimateMillicredits(uses.map(toUse), prices, markupPermille);
        return millicredits === null ? null : toCredits(millicredits);
      };
    },
  };
};
