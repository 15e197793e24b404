import { didYouMean, DomainError, invalidRequest } from "@nodeloom/kernel";
import type { Environment } from "@nodeloom/platform";
import { createAddedModels, entryText, isAFile, readAddedEntry } from "./added/models";
import { livingEntry, withEntry, withoutEntry, type AddedEntries } from "./added/entries";
import { checkChange, type Override } from "./override-check";
import { ownVersion } from "./own-entries";
import type { RegisteredModel, Registry } from "./registry";
import type { Servers } from "./servers/servers";
import type { CatalogModel, StoredKeys } from "./catalog-model";
import { merged } from "./merged";
import { replacedBy, retiredModel, successorOf } from "./retired";
import { orderIssues, tasksOf } from "./tasks";

export interface Overrides {
  /** Increases with every change. */
  revision: number;
  models: Readonly<Record<string, Override>>;
  /** Preferred models per task, set by administrators. */
  orders: Readonly<Record<string, readonly string[]>>;
  entries: AddedEntries;
}

export interface OverrideStore {
  /** Reads only the current revision. */
  revision(): Promise<number>;
  read(): Promise<Overrides>;
  /** Changes one model's override. Returns all overrides before and after. */
  set(internalName: string, change: Override): Promise<{ before: Overrides; after: Overrides }>;
  setOrder(task: string, order: readonly string[]): Promise<{ before: Overrides; after: Overrides }>;
  /** Applies `decide` to the added entries, and removes the overrides of entries that change. */
  changeEntries(decide: (entries: AddedEntries) => AddedEntries): Promise<{ before: Overrides; after: Overrides }>;
}

export interface EntryText {
  json: string;
  /** Revision of an added entry; 0 for a file. */
  revision: number;
  isFile: boolean;
}

export interface Catalog {
  /** `replaced`: retired models by the enabled model that replaces them. */
  list(includeDisabled: boolean): Promise<{
    models: CatalogModel[];
    revision: string;
    orders: Overrides["orders"];
    replaced: ReadonlyMap<string, readonly string[]>;
  }>;
  /** @throws DomainError MODEL_NOT_FOUND for an unknown model, and for a disabled model unless `includeDisabled` */
  get(internalName: string, includeDisabled?: boolean): Promise<CatalogModel>;
  update(internalName: string, change: Override): Promise<{ before: CatalogModel; after: CatalogModel }>;
  /** Sets the preferred models of a task. An empty list restores the default. @throws DomainError INVALID_REQUEST */
  setOrder(task: string, order: readonly string[]): Promise<{ before: readonly string[]; after: readonly string[] }>;
  /** @throws DomainError MODEL_NOT_FOUND */
  entry(internalName: string): Promise<EntryText>;
  /** Adds or replaces an added entry. @throws DomainError INVALID_REQUEST, ALREADY_EXISTS, PRECONDITION_FAILED */
  put(change: PutRequest): Promise<{ model: CatalogModel; entry: EntryText; before: EntryText | undefined }>;
  remove(internalName: string, ifRevision?: number): Promise<{ before: EntryText }>;
}

export interface PutRequest {
  json: string;
  mode: "create" | "put";
  /** Name in the URL. The entry must have this name. */
  internalName?: string | undefined;
  ifRevision?: number | undefined;
}

export interface CatalogDeps {
  registry: Registry;
  store: OverrideStore;
  /** Model servers of the installation. By default there are none. */
  servers?: Pick<Servers, "list" | "models" | "version">;
  /** Entries for the operator's own model files. By default there are none. Undefined while the inference service is unreachable. */
  ownModels?: () => Promise<ReadonlyMap<string, RegisteredModel> | undefined>;
  /** Provider keys set in the console. By default there are none. */
  consoleKeys?: () => Promise<StoredKeys>;
  env: Environment;
  now?: () => number;
  /** Called when reading overrides fails and cached ones are used. */
  onStale?: (error: unknown) => void;
  /** Called once for each added entry that this release can't parse. */
  onUnreadable?: (internalName: string, problem: string) => void;
}

/** Cached state in addition to the registry's files. */
interface Latest extends Overrides {
  keys: StoredKeys;
}

/** How long a change by another replica can remain unnoticed. */
const FRESH_MS = 1_000;

const NO_KEYS: StoredKeys = new Map();

/** @param enabled models that can be suggested */
const notFound = (internalName: string, enabled: readonly string[]): DomainError =>
  new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${internalName}${didYouMean(internalName, enabled)}`);

/** The registry's models with the administrators' overrides. They are cached in memory. */
export const createCatalog = async (deps: CatalogDeps): Promise<Catalog> => {
  const {
    registry,
    store,
    env,
    servers,
    ownModels,
    consoleKeys,
    now = Date.now,
    onStale = () => undefined,
    onUnreadable = () => undefined,
  } = deps;
  const added = createAddedModels({ env, files: registry.models, onUnreadable });
  let overrides = await store.read();
  let own: ReadonlyMap<string, RegisteredModel> = new Map();
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

  /** Returns the state with fresh entries of the operator's own model files, for lists and unknown names. */
  const currentWithOwn = async (): Promise<Latest> => {
    own = (await ownModels?.()) ?? own;
    return current();
  };

  const inForce = (model: RegisteredModel, { models, keys }: Latest): CatalogModel =>
    merged(model, keys, Object.hasOwn(models, model.internalName) ? models[model.internalName] : {});

  /** Precedence for equal names: files, added entries, servers, own model files. */
  const registered = ({ entries }: Pick<Latest, "entries">): ReadonlyMap<string, RegisteredModel> =>
    new Map([
      ...own,
      ...(servers?.models() ?? []),
      ...added.living(entries).map((model): [string, RegisteredModel] => [model.internalName, model]),
      ...registry.models,
    ]);
  const all = (latest: Latest): CatalogModel[] => [...registered(latest).values()].map((model) => inForce(model, latest));
  /** Also returns recently deleted entries, for runs in progress. */
  const find = (internalName: string, latest: Latest): RegisteredModel | undefined =>
    registered(latest).get(internalName) ?? added.get(latest.entries, internalName);
  const enabledNames = (latest: Latest): string[] =>
    all(latest)
      .filter(({ enabled }) => enabled)
      .map((model) => model.internalName);

  return {
    list: async (includeDisabled) => {
      const latest = await currentWithOwn();
      const allModels = all(latest);
      const models = allModels.filter((model) => includeDisabled || model.enabled);
      const revision = [registry.version, servers?.version() ?? "", ownVersion(own), latest.revision, ...[...latest.keys].sort()].join(".");
      return { models, revision, orders: latest.orders, replaced: replacedBy(allModels) };
    },
    get: async (internalName, includeDisabled = false) => {
      let latest = await current();
      if (!find(internalName, latest)) latest = await currentWithOwn();
      const model = find(internalName, latest);
      const effective = model && inForce(model, latest);
      if (effective?.retired && !includeDisabled) {
        const others = new Map(all(latest).map((one) => [one.internalName, one]));
        throw retiredModel(
          internalName,
          successorOf(effective, (name) => others.get(name)),
        );
      }
      if (!effective || !(effective.enabled || includeDisabled)) throw notFound(internalName, enabledNames(latest));
      return effective;
    },
    update: async (internalName, change) => {
      const latest = await currentWithOwn();
      const { keys } = latest;
      const models = registered(latest);
      const model = models.get(internalName);
      if (!model) throw notFound(internalName, [...models.keys()]);
      checkChange(inForce(model, latest), change, models);
      const { before, after } = await store.set(internalName, change);
      accept(after);
      return { before: inForce(model, { ...before, keys }), after: inForce(model, { ...after, keys }) };
    },
    setOrder: async (task, order) => {
      const models = registered(await currentWithOwn());
      const doing = [...models.values()].filter((model) => (tasksOf(model) as string[]).includes(task));
      const issues = orderIssues(task, order, doing.map(({ internalName }) => internalName)); // prettier-ignore
      if (issues.length > 0) throw invalidRequest(issues);
      const { before, after } = await store.setOrder(task, order);
      accept(after);
      return { before: before.orders[task] ?? [], after: order };
    },
    entry: async (internalName) => {
      const file = registry.models.get(internalName);
      if (file) return { json: registry.texts.get(internalName)!, revision: 0, isFile: true };
      const latest = await current();
      const entry = livingEntry(latest.entries, internalName);
      if (!entry) throw notFound(internalName, [...registered(latest).keys()]);
      return entryText(entry);
    },
    put: async ({ json, mode, internalName, ifRevision }) => {
      const model = readAddedEntry(json, { env, files: registry.models, internalName });
      const name = model.internalName;
      const { before, after } = await store.changeEntries((entries) => {
        const heldEntry = livingEntry(entries, name);
        const isPriced = heldEntry !== undefined && added.get(entries, name)?.price !== null;
        // Runs in progress rely on the price.
        if (isPriced && model.price === null) throw invalidRequest([{ path: "price", message: "can't be removed again" }]);
        return withEntry(entries, { name, json, mode, ifRevision, now: now() });
      });
      accept(after);
      const previous = livingEntry(before.entries, name);
      const { keys } = await current();
      return { model: inForce(model, { ...after, keys }), entry: entryText(after.entries[name]!), before: previous && entryText(previous) };
    },
    remove: async (internalName, ifRevision) => {
      if (registry.models.has(internalName)) throw isAFile(internalName);
      const { before, after } = await store.changeEntries((entries) =>
        withoutEntry(entries, { name: internalName, ifRevision, now: now() }),
      );
      accept(after);
      return { before: entryText(before.entries[internalName]!) };
    },
  };
};
