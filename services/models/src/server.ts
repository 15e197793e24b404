import { DomainError, invalidRequest, unitPrices, type BaseTier, type Modality, type Price, type UnitPrice } from "@nodeloom/kernel";
import { readPrice, storedPrice, unary } from "@nodeloom/platform";
import { models } from "@nodeloom/proto";
import { z } from "zod";
import type { Catalog } from "./catalog";
import type { CatalogModel } from "./catalog-model";
import type { Override } from "./override-check";
import { IMPORTED, type ImportedProvider, type Importer } from "./import";
import { READY, type LocalModels, type ModelStatus } from "./local-models";
import { keyOf, providerKeys } from "./provider-keys";
import { serverHandlers } from "./servers/handlers";
import type { Servers } from "./servers/servers";
import { tasksOf } from "./tasks";
import { companyOf } from "./published";

const isAmount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isUnit = ({ basis: _, ...amounts }: UnitPrice): boolean => Object.values(amounts).every(isAmount);

/** @throws DomainError INVALID_REQUEST for an invalid price. Callers check prices that contain more than amounts. */
const givenPrice = (stored: models.Price): Price => {
  const read = (): Price | undefined => {
    try {
      return readPrice(stored);
    } catch (error) {
      throw invalidRequest([{ path: "price", message: error instanceof z.ZodError ? z.prettifyError(error) : "must be JSON" }]);
    }
  };
  const price = read();
  if (!price) throw invalidRequest([{ path: "price", message: "must name its unit" }]);
  if (!unitPrices(price).every(isUnit)) throw invalidRequest([{ path: "price", message: "must not be negative" }]);
  return price;
};

/** JSON of immutable parts of a file, cached. */
const jsonOfFile = new WeakMap<object, string>();
const fileJson = (part: object): string => {
  const json = jsonOfFile.get(part) ?? JSON.stringify(part);
  jsonOfFile.set(part, json);
  return json;
};

const placeOf = ({ sandbox, runsAt }: CatalogModel): string => (sandbox ? "sandbox" : runsAt);

/** Returns the call protocol. A ComfyUI workflow is a polled job. */
const kindOf = ({ provider: { kind } }: CatalogModel): string => (kind === "comfyui" ? "http-polling" : kind);

const toMessage = (model: CatalogModel, status: ModelStatus, replaces: readonly string[] = []): models.Model =>
  models.Model.fromPartial({
    internalName: model.internalName,
    displayName: model.displayName,
    description: model.description,
    modality: model.modality,
    providerKind: kindOf(model),
    outputs: [...model.outputs],
    providerJson: fileJson(model.provider),
    inputSchemaJson: fileJson(model.inputSchema),
    ...(model.price === null ? {} : { price: storedPrice(model.price) }),
    minTier: model.minTier,
    trialRuns: model.trialRuns,
    enabled: model.enabled && !status.notInstalled,
    sandbox: model.sandbox,
    runsAt: placeOf(model),
    status,
    tasks: tasksOf(model),
    company: companyOf(model),
    asOf: model.asOf ?? "",
    source: model.source ?? "",
    retiresOn: model.retiresOn ?? "",
    retired: model.retired ?? false,
    successor: model.successor ?? "",
    replaces: [...replaces],
    fallback: [...model.fallback],
  });

const uninstalled = ({ internalName, status }: models.Model): DomainError =>
  new DomainError("not_found", "MODEL_NOT_FOUND", `there is no enabled model ${internalName}: ${status?.reason ?? "it is not installed"}`);

export const modelsHandlers = (catalog: Catalog, local: LocalModels, servers: Servers, draft: Importer): models.ModelsServiceServer => {
  const localStatus = (model: CatalogModel): Promise<ModelStatus> =>
    model.provider.server ? servers.statusOfModel(model) : local.statusOf(model.internalName);
  const statusOf = async (model: CatalogModel): Promise<ModelStatus> => {
    const { missing } = model;
    if (missing.length === 0) return model.runsAt === "local" ? localStatus(model) : READY;
    const needsKeyAlone = missing.every((name) => name === keyOf(model));
    return needsKeyAlone
      ? { state: "needs-key", reason: `add ${missing.join("")} under Models, or set it in the environment`, retryAfterSeconds: 0 }
      : { state: "away", reason: `set ${missing.join(" and ")}`, retryAfterSeconds: 0 };
  };
  const view = async (model: CatalogModel, replaces?: readonly string[]): Promise<models.Model> =>
    toMessage(model, await statusOf(model), replaces);
  return {
    ...serverHandlers(servers),
    listModels: unary(async ({ includeDisabled }) => {
      const { models: listedModels, revision, orders, replaced } = await catalog.list(includeDisabled);
      const all = await Promise.all(listedModels.map((model) => view(model, replaced.get(model.internalName))));
      return models.ListModelsResponse.fromPartial({
        models: includeDisabled ? all : all.filter(({ enabled }) => enabled),
        revision,
        orders: Object.fromEntries(Object.entries(orders).map(([task, order]) => [task, { models: [...order] }])),
      });
    }),
    getModel: unary(async ({ internalName, includeDisabled }) => {
      const model = await view(await catalog.get(internalName, includeDisabled));
      if (!model.enabled && !includeDisabled) throw uninstalled(model);
      return models.GetModelResponse.fromPartial({ model });
    }),
    setModelOrder: unary(async ({ task, order }) => {
      const { before, after } = await catalog.setOrder(task, order);
      return models.SetModelOrderResponse.fromPartial({ before: [...before], order: [...after] });
    }),
    listProviderKeys: unary(async () => {
      const { models: all } = await catalog.list(true);
      return models.ListProviderKeysResponse.fromPartial({ keys: providerKeys(all) });
    }),
    getEntry: unary(async ({ internalName }) => {
      const { json, revision, isFile } = await catalog.entry(internalName);
      return models.GetEntryResponse.fromPartial({ entryJson: json, revision, isFile });
    }),
    putEntry: unary(async ({ entryJson, create, internalName, ifRevision }) => {
      const { model, entry, before } = await catalog.put({
        json: entryJson,
        mode: create ? "create" : "put",
        internalName: internalName || undefined,
        ifRevision,
      });
      return models.PutEntryResponse.fromPartial({
        model: await view(model),
        entryJson: entry.json,
        revision: entry.revision,
        beforeJson: before?.json ?? "",
      });
    }),
    deleteEntry: unary(async ({ internalName, ifRevision }) => {
      const { before } = await catalog.remove(internalName, ifRevision);
      return models.DeleteEntryResponse.fromPartial({ beforeJson: before.json });
    }),
    draftEntry: unary(async ({ provider, app, internalName, modality }) => {
      if (!IMPORTED.includes(provider as ImportedProvider))
        throw invalidRequest([{ path: "provider", message: `must be one of: ${IMPORTED.join(", ")}` }]);
      const { entry, notes } = await draft(provider as ImportedProvider, {
        app,
        internalName: internalName || undefined,
        modality: (modality || undefined) as Modality | undefined,
      });
      return models.DraftEntryResponse.fromPartial({ entryJson: JSON.stringify(entry), notes });
    }),
    getLocalModels: unary(async () => models.GetLocalModelsResponse.fromPartial(await local.progress())),
    updateModel: unary(async ({ internalName, enabled, price, minTier, fallback }) => {
      const change: Override = {};
      if (enabled !== undefined) change.enabled = enabled;
      if (price !== undefined) change.price = givenPrice(price);
      // The catalog rejects unknown tiers.
      if (minTier !== undefined) change.minTier = minTier as BaseTier;
      if (fallback !== undefined) change.fallback = fallback.models;
      const { before, after } = await catalog.update(internalName, change);
      return models.UpdateModelResponse.fromPartial({ model: await view(after), before: await view(before) });
    }),
  };
};
