import {
  autoName,
  covers,
  DomainError,
  isBaseTier,
  isTaskName,
  type RunPlan,
  stepModels,
  taskOf,
  tierReaches,
  unavailable,
} from "@nodeloom/kernel";
import type { CatalogModel, ModelCatalog } from "./model-catalog";
import type { Measure } from "./measures";
import type { PlanTask } from "./planner/protocol";
import type { Runner } from "../run/runner";
import { executions } from "@nodeloom/proto";

/** Finds the models of a plan, and resolves its `auto:` tasks. */

export type Autos = NonNullable<PlanTask["autos"]>;
export type Routes = NonNullable<PlanTask["routes"]>;
export type RetiredModels = NonNullable<PlanTask["retired"]>;

export interface FindOptions {
  runner: Pick<Runner, "role" | "baseTier">;
  /** For a version: models that its tasks resolved to when it was published, by task name. */
  pinnedModels: Readonly<Record<string, string>>;
  measure: Measure;
}

export interface FoundModels {
  /** Models that the graph names, by name. Includes successors of retired models. */
  models: Map<string, CatalogModel>;
  /** Models that nodes can get for their task. */
  candidates: Map<string, CatalogModel>;
  /** Tasks that a version pins. */
  autos: Autos;
  routes: Routes;
  retired: RetiredModels;
}

/**
 * Finds the models that a graph uses, and those that nodes can get for a task: the pinned models of a version, and all models of the task.
 * Unknown names are left out.
 */
export const findModels = async (
  catalog: ModelCatalog,
  names: readonly string[],
  { runner, pinnedModels, measure }: FindOptions,
): Promise<FoundModels> => {
  const tasks = names.flatMap((name) => taskOf(name) ?? []).filter(isTaskName);
  const pins = tasks.flatMap((task): [string, string][] => {
    const pin = pinnedModels[autoName(task)];
    return pin === undefined ? [] : [[autoName(task), pin]];
  });
  const tier = runner.role === "admin" || !isBaseTier(runner.baseTier) ? undefined : runner.baseTier;
  const direct = names.filter((name) => taskOf(name) === undefined);
  const [namedModels, taskModels] = await Promise.all([
    catalog.getAll([...direct, ...pins.map(([, pin]) => pin)]),
    catalog.ofTasks(tasks, tier),
  ]);
  const models = new Map(namedModels);
  const unknown = direct.filter((name) => !namedModels.has(name));
  const retired = unknown.length === 0 ? undefined : await catalog.retired(unknown);
  for (const successor of retired?.values() ?? []) if (successor) models.set(successor.internalName, successor);
  const candidates = new Map<string, CatalogModel>();
  const routes = await Promise.all(
    [...taskModels].map(async ([task, { models: rankedModels, none }]): Promise<Routes[number]> => {
      for (const { model, excluded } of rankedModels) if (excluded === undefined) candidates.set(model.internalName, model);
      const measures = await measure(rankedModels.map(({ model }) => model));
      const routeCandidates = rankedModels.map(({ model, excluded, isStandIn }, index) => ({
        ...{ model: model.internalName, isStandIn, ...measures[index]! },
        ...(excluded === undefined ? {} : { excluded }),
      }));
      return [autoName(task), { candidates: routeCandidates, ...(none === undefined ? {} : { none }) }];
    }),
  );
  const autos = pins.map(([name, pin]): Autos[number] => [
    name,
    models.has(pin) ? { model: pin } : { problem: `there is no enabled model ${pin}, which ${name} is in this version` },
  ]);
  return {
    ...{ models, candidates, autos, routes },
    retired: [...(retired ?? [])].map(([name, successor]) => [name, successor?.internalName]),
  };
};

/** Models that a plan chose for nodes that name a task, by node. */
export const routedModels = ({ routes = [] }: Pick<RunPlan, "routes">): Record<string, string> =>
  Object.fromEntries(routes.map(({ nodeId, chosen }) => [nodeId, chosen]));

/** The model that a version pins for a task, or the task's own name. */
export const pinnedModel = (autos: Autos, task: string): string => {
  const auto = autos.find(([name]) => name === task)?.[1];
  return auto && "model" in auto ? auto.model : task;
};

/** Leaves out the candidates that no node got. @param all the models of a plan, with fallbacks */
export const usedModels = (
  all: ReadonlyMap<string, CatalogModel>,
  { models, candidates }: Pick<FoundModels, "models" | "candidates">,
  routed: Readonly<Record<string, string>>,
): Map<string, CatalogModel> => {
  const chosenModels = new Set(Object.values(routed));
  return new Map([...all].filter(([name]) => !candidates.has(name) || models.has(name) || chosenModels.has(name)));
};

export const isReady = ({ status }: Pick<CatalogModel, "status">): boolean =>
  status === undefined || (status.state !== "downloading" && status.state !== "away");

export const reachesTier = (runner: Pick<Runner, "role" | "baseTier">, { minTier }: Pick<CatalogModel, "minTier">): boolean =>
  runner.role === "admin" || !isBaseTier(minTier) || !isBaseTier(runner.baseTier) || tierReaches(runner.baseTier, minTier);

interface Use {
  runner: Pick<Runner, "role" | "baseTier" | "capabilities">;
  /** True if the run accepts only models that are polled. */
  isAsync: boolean;
  /** True for a run of a workflow, which can contain language models even if it is asynchronous. */
  isWorkflow: boolean;
}

/** True if a run can use a fallback. The capability to run a workflow covers all its models. */
const isUsable = (model: CatalogModel, { runner, isAsync, isWorkflow }: Use): boolean =>
  isReady(model) &&
  reachesTier(runner, model) &&
  (!isAsync || model.providerKind === "http-polling" || (isWorkflow && model.modality === "text")) &&
  (isWorkflow || covers(runner.capabilities, `model:${model.internalName}:run`));

/**
 * Adds fallbacks to the models of a run. Fallbacks of fallbacks aren't added. Fallbacks that the runner can't use are left out, because the
 * run doesn't depend on them.
 */
export const withAlternatives = async (
  catalog: Pick<ModelCatalog, "getAll">,
  models: ReadonlyMap<string, CatalogModel>,
  use: Use,
): Promise<Map<string, CatalogModel>> => {
  const fallbackNames = new Set([...models.values()].flatMap(({ fallback = [] }) => fallback));
  if (fallbackNames.size === 0) return new Map(models);
  const fallbackModels = await catalog.getAll([...fallbackNames].filter((name) => !models.has(name)));
  const usable = (name: string): boolean => {
    const model = models.get(name) ?? fallbackModels.get(name);
    return model !== undefined && isUsable(model, use);
  };
  const entries = [...models].map(([name, model]) => [name, { ...model, fallback: (model.fallback ?? []).filter(usable) }] as const);
  const added = [...fallbackModels].filter(([name]) => usable(name)).map(([name, model]) => [name, { ...model, fallback: [] }] as const);
  return new Map<string, CatalogModel>([...entries, ...added]);
};

/** @throws DomainError MODEL_TIER_REQUIRED */
export const checkTier = (models: Iterable<CatalogModel>, runner: Runner): void => {
  for (const model of models) {
    if (reachesTier(runner, model)) continue;
    const { internalName, minTier } = model;
    throw new DomainError("forbidden", "MODEL_TIER_REQUIRED", `${internalName} needs the ${minTier} tier`, {
      model: internalName,
      requiredTier: minTier,
      tier: runner.tier,
    });
  }
};

/** @throws DomainError SERVICE_UNAVAILABLE with the model's name (`model`) if a model isn't ready and has no fallback that is */
export const checkReady = ({ steps }: RunPlan, models: ReadonlyMap<string, CatalogModel>): void => {
  const isThere = (name: string): boolean => isReady(models.get(name) ?? {});
  const replaceable = new Set(
    steps
      .map(stepModels)
      .filter((names) => names.some(isThere))
      .flat(),
  );
  for (const { internalName, status } of models.values()) {
    if (status === undefined || isReady({ status }) || replaceable.has(internalName)) continue;
    const { metadata, message } = unavailable(`${internalName} is not ready: ${status.reason}`, status.retryAfterSeconds);
    throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", message, { ...metadata, model: internalName });
  }
};

/** @throws DomainError ASYNC_NOT_SUPPORTED */
export const checkAsync = (models: Iterable<CatalogModel>): void => {
  for (const { internalName, providerKind } of models) {
    if (providerKind === "http-polling") continue;
    throw new DomainError("invalid", "ASYNC_NOT_SUPPORTED", `${internalName} can't run asynchronously`, { model: internalName });
  }
};

/** Models that a node could have for its task, the chosen one first; none if the caller can't read the graph. */
export const consideredMessages = (
  { routes = [], graphHidden }: Pick<RunPlan, "routes" | "graphHidden">,
  nodeId: string,
): executions.ConsideredModel[] => {
  const route = graphHidden ? undefined : routes.find((one) => one.nodeId === nodeId);
  return (route?.considered ?? []).map(({ model, millicredits, p50Ms, errorRate, reason }) =>
    executions.ConsideredModel.fromPartial({
      ...{ model, reason },
      millicredits: millicredits ?? undefined,
      p50Ms: p50Ms ?? undefined,
      errorRate: errorRate ?? undefined,
    }),
  );
};
