import {
  createInputCheck,
  DomainError,
  firstReady,
  noneReady,
  rankedFor,
  whyNot,
  retiresSoon,
  type BaseTier,
  type JsonSchema,
  type ModelTerms,
} from "@nodeloom/kernel";
import { createSharedReads, readPrice } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import type { models as modelsProto } from "@nodeloom/proto";
import type { Models } from "../clients";

/** A registered model with the data that runs need. */
export interface CatalogModel extends ModelTerms {
  minTier: string;
  providerJson: string;
  inputSchemaJson: string;
  /** True for a deterministic stand-in for a provider. */
  sandbox?: boolean;
  status?: modelsProto.ModelStatus | undefined;
}

const KEPT_MODELS = 500;
const inputs = new LRUCache<string, Pick<ModelTerms, "inputSchema" | "validate">>({
  max: KEPT_MODELS,
  memoMethod: (inputSchemaJson) => {
    const inputSchema = JSON.parse(inputSchemaJson) as JsonSchema;
    return { inputSchema, validate: createInputCheck(inputSchema) };
  },
});
/** Returns a model's input schema with its validator, cached by the schema's text. */
export const inputTerms = (inputSchemaJson: string): Pick<ModelTerms, "inputSchema" | "validate"> => inputs.memo(inputSchemaJson);

const RECENT_MS = 2_000;
/** Where models run that only stand in for others. */
const SANDBOX = "sandbox";

/** The enabled models of a task, the first in the order first. */
export interface TaskModels {
  /** `excluded`: reason why a model can't run now for the tier. */
  models: { model: CatalogModel; excluded: string | undefined; isStandIn: boolean }[];
  /** Reason and next step if no model is ready. */
  none?: string;
}

export type ModelCatalog = ReturnType<typeof createModelCatalog>;

/** Looks models up for every run, so that changes of prices and switches take effect at once. */
export const createModelCatalog = (models: Models) => {
  const read = (model: modelsProto.Model): CatalogModel => {
    const price = readPrice(model.price);
    if (!price) throw new DomainError("internal", "INTERNAL", "a model has no price");
    const { retiresOn, successor, ...rest } = model;
    const retires = retiresOn !== "" && retiresSoon(retiresOn, Date.now());
    return {
      ...rest,
      price,
      ...(retires ? { retiresOn } : {}),
      ...(successor === "" ? {} : { successor }),
      ...inputTerms(model.inputSchemaJson),
    };
  };

  const find = async (internalName: string, includeDisabled: boolean): Promise<CatalogModel> => {
    const { model } = await models.getModel({ internalName, includeDisabled });
    if (!model) throw new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${internalName}`);
    return read(model);
  };

  /** Cache for runs under way, whose price is fixed. Other changes to a model can take effect up to two seconds later. */
  const recent = new LRUCache<string, Promise<CatalogModel>>({
    max: KEPT_MODELS,
    ttl: RECENT_MS,
    memoMethod: (internalName) => {
      const pending = find(internalName, true);
      pending.catch(() => recent.delete(internalName));
      return pending;
    },
  });
  const reads = createSharedReads<CatalogModel>();
  const get = async (internalName: string): Promise<CatalogModel> => {
    const model = await reads(internalName, () => find(internalName, false));
    recent.set(internalName, Promise.resolve(model));
    return model;
  };

  return {
    /** Returns an enabled model. @throws DomainError MODEL_NOT_FOUND */
    get,
    /** Also returns disabled models, for runs under way. */
    getAny: (internalName: string): Promise<CatalogModel> => recent.memo(internalName),
    names: async (): Promise<string[]> => (await models.listModels({ includeDisabled: false })).models.map((model) => model.internalName),
    /** Returns the enabled models of tasks, the first in the order first. `none` is the reason if none is ready for the tier. */
    ofTasks: async (tasks: readonly string[], tier: BaseTier | undefined): Promise<Map<string, TaskModels>> => {
      if (tasks.length === 0) return new Map();
      const { models: enabled, orders } = await models.listModels({ includeDisabled: false });
      const rankedByTask = new Map(tasks.map((task) => [task, rankedFor(task, enabled, orders[task]?.models)]));
      const isReady = [...rankedByTask.values()].every((ranked) => firstReady(ranked, tier));
      const all = isReady ? [] : (await models.listModels({ includeDisabled: true })).models;
      return new Map(
        [...rankedByTask].map(([task, ranked]) => [
          task,
          {
            models: ranked.map((model) => ({
              ...{ model: read(model), excluded: whyNot(model, tier) },
              isStandIn: model.runsAt === SANDBOX && !orders[task]?.models.includes(model.internalName),
            })),
            ...(firstReady(ranked, tier) ? {} : { none: noneReady(task, rankedFor(task, all), tier) }),
          },
        ]),
      );
    },
    /** Returns the retired models of a set of names, each with the enabled model that replaces it; undefined if there is none. */
    retired: async (names: readonly string[]): Promise<Map<string, CatalogModel | undefined>> => {
      const { models: all } = await models.listModels({ includeDisabled: true });
      const retiredModels = all.filter(({ internalName, retired }) => retired && names.includes(internalName));
      return new Map(
        retiredModels.map(({ internalName }) => {
          const successor = all.find(({ enabled, replaces }) => enabled && replaces.includes(internalName));
          return [internalName, successor && read(successor)];
        }),
      );
    },
    /** Returns the enabled models of a set of names. Unknown names are left out. */
    getAll: async (names: readonly string[]): Promise<Map<string, CatalogModel>> => {
      if (names.length === 0) return new Map();
      if (names.length === 1) {
        const model = await get(names[0]!).catch((error: unknown) => {
          if (error instanceof DomainError && error.reason === "MODEL_NOT_FOUND") return undefined;
          throw error;
        });
        return new Map(model ? [[model.internalName, model]] : []);
      }
      const listed = await models.listModels({ includeDisabled: false });
      return new Map(listed.models.filter((model) => names.includes(model.internalName)).map((model) => [model.internalName, read(model)]));
    },
  };
};
