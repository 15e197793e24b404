import { autoName, firstReady, rankedFor, TASK_NAMES, type BaseTier, type TaskName } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import type { Services } from "./services";

type ModelList = Pick<models.ListModelsResponse, "models" | "orders">;

/** Models for a task, best first. */
export const ranked = (name: TaskName, { models: all, orders }: ModelList): models.Model[] => rankedFor(name, all, orders[name]?.models);

/** Current model of every task, by its name in graphs; tasks without a ready model are left out. */
export const readyModels = async (service: Services["models"], tier: BaseTier | undefined): Promise<Record<string, string>> => {
  const listed = await service.listModels({ includeDisabled: false });
  const modelsByTask = TASK_NAMES.map((name) => [autoName(name), firstReady(ranked(name, listed), tier)?.internalName] as const);
  return Object.fromEntries(modelsByTask.filter((one): one is [string, string] => one[1] !== undefined));
};
