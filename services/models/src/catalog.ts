import { didYouMean, DomainError, invalidRequest, TIERS, type BaseTier, type Price } from "@nodeloom/kernel";
import { pricingProblem } from "./pricing";
import type { RegisteredModel, Registry } from "./registry";

/** What an admin may set over a model's file. Absent members follow the file. */
export interface Override {
  enabled?: boolean;
  price?: Price;
  minTier?: BaseTier;
}

export interface Overrides {
  /** Increases with every change. */
  revision: number;
  models: Readonly<Record<string, Override>>;
}

export interface OverrideStore {
  /** The revision of now, without the overrides. */
  revision(): Promise<number>;
  read(): Promise<Overrides>;
  /** Changes one model's override and answers all of them, before and after. */
  set(internalName: string, change: Override): Promise<{ before: Overrides; after: Overrides }>;
}

export interface Catalog {
  list(includeDisabled: boolean): Promise<{ models: RegisteredModel[]; revision: string }>;
  /** @throws DomainError MODEL_NOT_FOUND unless there is a model of that name, and an enabled one where only those count. */
  get(internalName: string, includeDisabled?: boolean): Promise<RegisteredModel>;
  update(internalName: string, change: Override): Promise<{ before: RegisteredModel; after: RegisteredModel }>;
}

export interface CatalogDeps {
  registry: Registry;
  store: OverrideStore;
  now?: () => number;
  /** Called when overrides can't be read and the last known ones stay in force. */
  onStale?: (error: unknown) => void;
}

/** How long another replica's change may go unseen. */
const FRESH_MS = 1_000;

const merged = (model: RegisteredModel, override: Override = {}): RegisteredModel => ({
  ...model,
  price: override.price ?? model.price,
  minTier: override.minTier ?? model.minTier,
  enabled: (override.enabled ?? model.enabled) && model.missing.length === 0,
});

/** @param enabled names that may have been meant */
const notFound = (internalName: string, enabled: readonly string[]): DomainError =>
  new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${internalName}${didYouMean(internalName, enabled)}`);

const checkChange = (model: RegisteredModel, { enabled, price, minTier }: Override): void => {
  const issues = [];
  if (enabled && model.missing.length > 0) issues.push({ path: "enabled", message: `the environment lacks ${model.missing.join(", ")}` });
  if (minTier !== undefined && !TIERS.includes(minTier)) issues.push({ path: "minTier", message: `must be one of: ${TIERS.join(", ")}` });
  const problem = price && pricingProblem(price, model.inputSchema);
  if (problem) issues.push({ path: "price", message: problem });
  if (issues.length > 0) throw invalidRequest(issues);
};

/** The models in force: the files' entries under the admins' overrides, from memory. */
export const createCatalog = async ({ registry, store, now = Date.now, onStale = () => undefined }: CatalogDeps): Promise<Catalog> => {
  let overrides = await store.read();
  let checkedAt = now();
  let checking: Promise<void> | undefined;

  const accept = (newer: Overrides): void => {
    if (newer.revision >= overrides.revision) overrides = newer;
  };

  const check = async (): Promise<void> => {
    try {
      if ((await store.revision()) !== overrides.revision) accept(await store.read());
    } catch (error) {
      onStale(error);
    } finally {
      checkedAt = now();
      checking = undefined;
    }
  };

  const current = async (): Promise<Overrides> => {
    if (now() - checkedAt >= FRESH_MS) await (checking ??= check());
    return overrides;
  };

  const inForce = (model: RegisteredModel, { models }: Overrides): RegisteredModel =>
    merged(model, Object.hasOwn(models, model.internalName) ? models[model.internalName] : {});

  const all = (latest: Overrides): RegisteredModel[] => [...registry.models.values()].map((model) => inForce(model, latest));
  const enabledNames = (latest: Overrides): string[] =>
    all(latest)
      .filter(({ enabled }) => enabled)
      .map((model) => model.internalName);

  return {
    list: async (includeDisabled) => {
      const latest = await current();
      const models = all(latest).filter((model) => includeDisabled || model.enabled);
      return { models, revision: `${registry.version}.${latest.revision}` };
    },
    get: async (internalName, includeDisabled = false) => {
      const latest = await current();
      const model = registry.models.get(internalName);
      const found = model && inForce(model, latest);
      if (!found || !(found.enabled || includeDisabled)) throw notFound(internalName, enabledNames(latest));
      return found;
    },
    update: async (internalName, change) => {
      const model = registry.models.get(internalName);
      if (!model) throw notFound(internalName, [...registry.models.keys()]);
      checkChange(model, change);
      const { before, after } = await store.set(internalName, change);
      accept(after);
      return { before: inForce(model, before), after: inForce(model, after) };
    },
  };
};
