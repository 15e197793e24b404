import { didYouMean, DomainError, invalidRequest, TIERS, type BaseTier, type Price } from "@nodeloom/kernel";
import { pricingProblem } from "./pricing";
import type { RegisteredModel, Registry } from "./registry";
import type { Servers } from "./servers/servers";
import { orderIssues, tasksOf } from "./tasks";

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
  /** Models that administrators put first for a task. */
  orders: Readonly<Record<string, readonly string[]>>;
}

export interface OverrideStore {
  /** The revision of now, without the overrides. */
  revision(): Promise<number>;
  read(): Promise<Overrides>;
  /** Changes one model's override and answers all of them, before and after. */
  set(internalName: string, change: Override): Promise<{ before: Overrides; after: Overrides }>;
  /** Replaces a task's order. */
  setOrder(task: string, order: readonly string[]): Promise<{ before: Overrides; after: Overrides }>;
}

/** A model as it is in force. Its `missing` is what neither the environment nor the console has. */
export interface CatalogModel extends RegisteredModel {
  /** What the environment alone is missing. */
  environmentLacks: readonly string[];
}

export interface Catalog {
  list(includeDisabled: boolean): Promise<{ models: CatalogModel[]; revision: string; orders: Overrides["orders"] }>;
  /** @throws DomainError MODEL_NOT_FOUND unless there is a model of that name, and an enabled one where only those count. */
  get(internalName: string, includeDisabled?: boolean): Promise<CatalogModel>;
  update(internalName: string, change: Override): Promise<{ before: CatalogModel; after: CatalogModel }>;
  /** Sets which models come first for a task; none: as by default. @throws DomainError INVALID_REQUEST */
  setOrder(task: string, order: readonly string[]): Promise<{ before: readonly string[]; after: readonly string[] }>;
}

export interface CatalogDeps {
  registry: Registry;
  store: OverrideStore;
  /** Servers of the installation's own; none by default. */
  servers?: Pick<Servers, "list" | "models" | "version">;
  /** Names of the providers' keys that the console was given; none by default. */
  consoleKeys?: () => Promise<ReadonlySet<string>>;
  now?: () => number;
  /** Called when overrides can't be read and the last known ones stay in force. */
  onStale?: (error: unknown) => void;
}

/** What is known of now, beside the registry. */
interface Latest extends Overrides {
  keys: ReadonlySet<string>;
}

/** How long another replica's change may go unseen. */
const FRESH_MS = 1_000;

const NO_KEYS: ReadonlySet<string> = new Set();

const merged = (model: RegisteredModel, keys: ReadonlySet<string>, override: Override = {}): CatalogModel => {
  const missing = model.missing.filter((name) => !keys.has(name));
  return {
    ...model,
    missing,
    environmentLacks: model.missing,
    price: override.price ?? model.price,
    minTier: override.minTier ?? model.minTier,
    enabled: (override.enabled ?? model.enabled) && missing.length === 0,
  };
};

/** @param enabled names that may have been meant */
const notFound = (internalName: string, enabled: readonly string[]): DomainError =>
  new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${internalName}${didYouMean(internalName, enabled)}`);

const checkChange = (model: RegisteredModel, { enabled, price, minTier }: Override): void => {
  const issues = [];
  if (enabled && model.missing.length > 0) issues.push({ path: "enabled", message: `${model.missing.join(", ")} is not set` });
  if (minTier !== undefined && !TIERS.includes(minTier)) issues.push({ path: "minTier", message: `must be one of: ${TIERS.join(", ")}` });
  const problem = price && pricingProblem(price, model.inputSchema);
  if (problem) issues.push({ path: "price", message: problem });
  if (issues.length > 0) throw invalidRequest(issues);
};

/** The models in force: the files' entries under the admins' overrides, from memory. */
export const createCatalog = async ({
  registry,
  store,
  servers,
  consoleKeys,
  now = Date.now,
  onStale = () => undefined,
}: CatalogDeps): Promise<Catalog> => {
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

  const current = async (): Promise<Latest> => {
    const keys = (await consoleKeys?.()) ?? NO_KEYS;
    await servers?.list();
    if (now() - checkedAt >= FRESH_MS) await (checking ??= check());
    return { ...overrides, keys };
  };

  const inForce = (model: RegisteredModel, { models, keys }: Latest): CatalogModel =>
    merged(model, keys, Object.hasOwn(models, model.internalName) ? models[model.internalName] : {});

  /** A file's entry comes before a server's of the same name. */
  const named = (internalName: string): RegisteredModel | undefined =>
    registry.models.get(internalName) ?? servers?.models().get(internalName);
  const registered = (): RegisteredModel[] => [...new Map([...(servers?.models() ?? []), ...registry.models]).values()];
  const all = (latest: Latest): CatalogModel[] => registered().map((model) => inForce(model, latest));
  const enabledNames = (latest: Latest): string[] =>
    all(latest)
      .filter(({ enabled }) => enabled)
      .map((model) => model.internalName);

  return {
    list: async (includeDisabled) => {
      const latest = await current();
      const models = all(latest).filter((model) => includeDisabled || model.enabled);
      const revision = [registry.version, servers?.version() ?? "", latest.revision, ...[...latest.keys].sort()].join(".");
      return { models, revision, orders: latest.orders };
    },
    get: async (internalName, includeDisabled = false) => {
      const latest = await current();
      const model = named(internalName);
      const found = model && inForce(model, latest);
      if (!found || !(found.enabled || includeDisabled)) throw notFound(internalName, enabledNames(latest));
      return found;
    },
    update: async (internalName, change) => {
      const { keys } = await current();
      const model = named(internalName);
      if (!model) throw notFound(internalName, registered().map((one) => one.internalName)); // prettier-ignore
      checkChange(inForce(model, { ...overrides, keys }), change);
      const { before, after } = await store.set(internalName, change);
      accept(after);
      return { before: inForce(model, { ...before, keys }), after: inForce(model, { ...after, keys }) };
    },
    setOrder: async (task, order) => {
      const doing = [...registry.models.values()].filter((model) => (tasksOf(model) as string[]).includes(task));
      const issues = orderIssues(task, order, doing.map(({ internalName }) => internalName)); // prettier-ignore
      if (issues.length > 0) throw invalidRequest(issues);
      const { before, after } = await store.setOrder(task, order);
      accept(after);
      return { before: before.orders[task] ?? [], after: order };
    },
  };
};
