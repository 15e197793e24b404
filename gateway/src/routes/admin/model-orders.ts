import { TASK_NAMES, type TaskName } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute } from "../../edge/route";
import { listQuery, slug, type ParamsSpec } from "../../http/schemas";
import { ranked } from "../../clients/ranking";
import { taskName } from "../models/tasks";
import { audited } from "../../edge/audit";
import { forAdmins } from "./shared";
import { jsonBody } from "../../http/body/kinds";

/** Order of models for each task (`auto:image`). */

const MAX_ORDER = 100;
const params: ParamsSpec<{ task: TaskName }> = { schema: z.object({ task: taskName }), invalid: () => notFound("task") };

const order = z
  .object({
    task: taskName,
    order: z.array(slug).meta({
      description: "Models that come first. The others follow: those of providers, local models, the sandbox",
    }),
    models: z.array(slug).meta({ description: "All models for the task, in the order in which they are tried" }),
  })
  .meta({ id: "ModelOrder" });

const view = (task: TaskName, listed: models.ListModelsResponse): z.infer<typeof order> => ({
  task,
  order: [...(listed.orders[task]?.models ?? [])],
  models: ranked(task, listed).map(({ internalName }) => internalName),
});

export const adminModelOrderRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/model-orders",
    query: listQuery(),
    operationId: "adminListModelOrders",
    summary: "List the models of each task, in order",
    responses: { 200: z.array(order) },
    handler: async ({ gateway }) => {
      const listed = await gateway.services.models.listModels({ includeDisabled: true });
      return { status: 200, body: TASK_NAMES.map((task) => view(task, listed)) };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "PUT",
    path: "/api/admin/model-orders/:task",
    operationId: "adminPutModelOrder",
    summary: "Set which models come first for a task",
    description: "The first model that is ready and that the caller's tier can run is used. An empty list restores the built-in order.",
    params,
    body: jsonBody(z.strictObject({ order: z.array(slug).max(MAX_ORDER) }).meta({ id: "NewModelOrder" })),
    responses: { 200: order },
    errors: ["NOT_FOUND"],
    example: { order: ["sandbox-image", "sandbox-image-fast"] },
    handler: async (context) => {
      const { gateway, params: orderParams, body } = context;
      const { models: service } = gateway.services;
      await audited(context, { action: "model-order.put", target: orderParams.task, change: body }, async () => {
        const { before, order: after } = await service.setModelOrder({ task: orderParams.task, order: body.order });
        return { value: after, before: { order: before }, after: { order: after } };
      });
      return { status: 200, body: view(orderParams.task, await service.listModels({ includeDisabled: true })) };
    },
  }),
];
