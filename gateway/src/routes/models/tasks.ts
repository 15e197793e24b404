import { autoName, firstReady, isBaseTier, noneReady, rankedFor, TASK_NAMES, TASKS, type BaseTier, type TaskName } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Services } from "../../clients";
import { defineRoute } from "../../http/route";
import { slug } from "../../schemas";

/** What nodes may name instead of a model, and which model that is now. */

export const taskName = z.enum(TASK_NAMES);

const task = z
  .object({
    task: taskName,
    name: z.string().meta({ description: "What a node's `model` says", example: "auto:image" }),
    modality: z.string(),
    summary: z.string(),
    inputs: z
      .array(z.string())
      .meta({ description: "What may be given whichever model it becomes; inputs that the model lacks are left out, with a warning" }),
    model: slug.nullable().meta({ description: "The model that a run by the caller would take now" }),
    reason: z.string().nullable().meta({ description: "Why there is none, and what to do" }),
  })
  .meta({ id: "Task" });

/** The tier that decides what a caller may run; administrators may run everything. */
export const tierOf = ({ isAdmin, user }: Caller): BaseTier | undefined =>
  isAdmin || !isBaseTier(user.plan.base) ? undefined : user.plan.base;

type Listed = Pick<models.ListModelsResponse, "models" | "orders">;

/** The models that do a task, the best first. */
export const ranked = (name: TaskName, { models: all, orders }: Listed): models.Model[] => rankedFor(name, all, orders[name]?.models);

/** What every task would become now, by its name in graphs; tasks without a model that is ready are left out. */
export const readyModels = async (service: Services["models"], tier: BaseTier | undefined): Promise<Record<string, string>> => {
  const listed = await service.listModels({ includeDisabled: false });
  const found = TASK_NAMES.map((name) => [autoName(name), firstReady(ranked(name, listed), tier)?.internalName] as const);
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== undefined));
};

export const taskRoutes = [
  defineRoute({
    method: "GET",
    path: "/api/tasks",
    tag: "Models",
    auth: "any",
    limit: "user",
    list: true,
    operationId: "listTasks",
    summary: "List what nodes may name instead of a model, and which model that is now",
    responses: { 200: z.array(task) },
    handler: async ({ gateway, caller }) => {
      const all = await gateway.services.models.listModels({ includeDisabled: true });
      const enabled = { ...all, models: all.models.filter((model) => model.enabled) };
      const tier = tierOf(caller);
      const body = TASK_NAMES.map((name) => {
        const { modality, summary, inputs } = TASKS[name];
        const model = firstReady(ranked(name, enabled), tier)?.internalName ?? null;
        const reason = model === null ? noneReady(name, ranked(name, all), tier) : null;
        return { task: name, name: autoName(name), modality, summary, inputs: [...inputs], model, reason };
      });
      return { status: 200, body };
    },
  }),
];
