import { tierOf } from "../../auth/caller";
import { autoName, firstReady, noneReady, TASK_NAMES, TASKS } from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { listQuery, slug } from "../../http/schemas";
import { ranked } from "../../clients/ranking";

/** Tasks that nodes can name instead of a model, with their current model. */

export const taskName = z.enum(TASK_NAMES);

const task = z
  .object({
    task: taskName,
    name: z.string().meta({ description: "Value for a node's `model`", example: "auto:image" }),
    modality: z.string(),
    summary: z.string(),
    inputs: z
      .array(z.string())
      .meta({ description: "Inputs for any model of the task. Inputs that the chosen model lacks are dropped with a warning" }),
    model: slug.nullable().meta({ description: "Model that a run by the caller would use now" }),
    reason: z.string().nullable().meta({ description: "Reason why no model is ready, and the next step" }),
  })
  .meta({ id: "Task" });

export const taskRoutes = [
  defineRoute({
    method: "GET",
    path: "/api/tasks",
    tag: "Models",
    auth: "any",
    role: "viewer",
    limit: "user",
    query: listQuery(),
    operationId: "listTasks",
    summary: "List the tasks that nodes can name instead of a model, with their current models",
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
