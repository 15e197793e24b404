import { autoName, isBaseTier, isTaskName, taskOf } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { CatalogModel, ModelCatalog } from "./model-catalog";
import type { PlanTask } from "./planner/protocol";

/** Finds the models of a plan, and the model that each `auto:` task becomes. */

export type Autos = NonNullable<PlanTask["autos"]>;

export interface FindOptions {
  runner: Pick<executions.Runner, "role" | "baseTier">;
  /** Of a version: what its tasks became when it was published, by name. */
  pinnedModels: Readonly<Record<string, string>>;
}

/**
 * The models that a graph names, and those that its tasks become: the pinned ones of a version, otherwise the best that are ready for
 * the runner's tier. Unknown names are left out.
 */
export const findModels = async (
  catalog: ModelCatalog,
  names: readonly string[],
  { runner, pinnedModels }: FindOptions,
): Promise<{ models: Map<string, CatalogModel>; autos: Autos }> => {
  const tasks = names.flatMap((name) => taskOf(name) ?? []).filter(isTaskName);
  const pinOf = (task: string): string | undefined => pinnedModels[autoName(task)];
  const tier = runner.role === "admin" || !isBaseTier(runner.baseTier) ? undefined : runner.baseTier;
  const direct = names.filter((name) => taskOf(name) === undefined);
  const [named, chosen] = await Promise.all([
    catalog.getAll([...direct, ...tasks.flatMap((task) => pinOf(task) ?? [])]),
    catalog.choose(
      tasks.filter((task) => pinOf(task) === undefined),
      tier,
    ),
  ]);
  const models = new Map(named);
  const autos = tasks.map((task): Autos[number] => {
    const [name, pin, auto] = [autoName(task), pinOf(task), chosen.get(task)];
    if (auto && "model" in auto) {
      models.set(auto.model.internalName, auto.model);
      return [name, { model: auto.model.internalName }];
    }
    if (auto) return [name, auto];
    const isThere = pin !== undefined && models.has(pin);
    return [name, isThere ? { model: pin } : { problem: `there is no enabled model ${pin}, which ${name} is in this version` }];
  });
  return { models, autos };
};
