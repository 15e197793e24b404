/** Models that administrators put in the place of others where those fail. */
import { covers, isBaseTier, tierReaches } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { CatalogModel, ModelCatalog } from "./model-catalog";

export const isReady = ({ status }: Pick<CatalogModel, "status">): boolean =>
  status === undefined || (status.state !== "downloading" && status.state !== "away");

export const reachesTier = (runner: Pick<executions.Runner, "role" | "baseTier">, { minTier }: Pick<CatalogModel, "minTier">): boolean =>
  runner.role === "admin" || !isBaseTier(minTier) || !isBaseTier(runner.baseTier) || tierReaches(runner.baseTier, minTier);

interface Use {
  runner: Pick<executions.Runner, "role" | "baseTier" | "capabilities">;
  /** The run is one that only polled models may have. */
  isAsync: boolean;
  /** A run of a workflow, in which language models stand in no way of that. */
  isWorkflow: boolean;
}

/** Whether a run may use a model in another's place. The capability to run a workflow reaches all of its models. */
const isUsable = (model: CatalogModel, { runner, isAsync, isWorkflow }: Use): boolean =>
  isReady(model) &&
  reachesTier(runner, model) &&
  (!isAsync || model.providerKind === "http-polling" || (isWorkflow && model.modality === "text")) &&
  (isWorkflow || covers(runner.capabilities, `model:${model.internalName}:run`));

/**
 * The models of a run with those that may come in their places. A model in the place of another brings none of its own. What the runner
 * can't use is left out: the run is as good without.
 */
export const withAlternatives = async (
  catalog: Pick<ModelCatalog, "getAll">,
  models: ReadonlyMap<string, CatalogModel>,
  use: Use,
): Promise<Map<string, CatalogModel>> => {
  const wanted = new Set([...models.values()].flatMap(({ fallback = [] }) => fallback));
  if (wanted.size === 0) return new Map(models);
  const found = await catalog.getAll([...wanted].filter((name) => !models.has(name)));
  const usable = (name: string): boolean => {
    const model = models.get(name) ?? found.get(name);
    return model !== undefined && isUsable(model, use);
  };
  const named = [...models].map(([name, model]) => [name, { ...model, fallback: (model.fallback ?? []).filter(usable) }] as const);
  const added = [...found].filter(([name]) => usable(name)).map(([name, model]) => [name, { ...model, fallback: [] }] as const);
  return new Map<string, CatalogModel>([...named, ...added]);
};
