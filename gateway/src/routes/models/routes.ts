import { DomainError } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";
import { isListed, modelFilter } from "./filter";
import { model, modelView } from "./view";
import { defineRoute } from "../../edge/route";
import { listQuery, modelParams } from "../../http/schemas";

const readRoute = { method: "GET", tag: "Models", auth: "any", role: "viewer", limit: "user" } as const;

const localModels = z
  .object({
    status: z
      .enum(["ready", "downloading", "away", "off"])
      .meta({ description: "`off`: the installation has no mail server", example: "downloading" }),
    reason: z.string().nullable().meta({ description: "Reason why they aren't ready" }),
    fetchedBytes: z.number().meta({ example: 120_000_000 }),
    totalBytes: z.number().meta({ example: 540_000_000 }),
  })
  .meta({ id: "LocalModels" });

/** Models that aren't installed, or lack a key or price, can't run; only administrators see them. */
const isShown = ({ enabled, status, price }: models.Model): boolean =>
  enabled || status?.state === "needs-key" || status?.notInstalled === true || price === undefined;

export const modelRoutes = [
  defineRoute({
    ...readRoute,
    path: "/api/models",
    operationId: "listModels",
    summary: "List the enabled models; to administrators also those that are not installed or need a key or a price",
    query: listQuery(modelFilter),
    responses: { 200: z.array(model) },
    handler: async ({ gateway, caller, query }) => {
      const { models } = await gateway.services.models.listModels({ includeDisabled: caller.isAdmin });
      const listed = models.filter((stored) => isShown(stored) && isListed(stored, query));
      return { status: 200, body: listed.map((stored) => modelView(stored, caller.user.plan.markupPermille)) };
    },
  }),
  defineRoute({
    ...readRoute,
    path: "/api/models/:internalName",
    operationId: "getModel",
    summary: "Read an enabled model; administrators also one that is not installed or needs a key or a price",
    params: modelParams,
    responses: { 200: model },
    errors: ["INVALID_SLUG", "MODEL_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const { model: stored } = await gateway.services.models.getModel({
        internalName: params.internalName,
        includeDisabled: caller.isAdmin,
      });
      if (!stored || !isShown(stored)) throw new DomainError("not_found", "MODEL_NOT_FOUND", "model not found");
      return { status: 200, body: modelView(stored, caller.user.plan.markupPermille) };
    },
  }),
  defineRoute({
    ...readRoute,
    path: "/api/local-models",
    operationId: "getLocalModels",
    summary: "Get the progress of the downloads of local models",
    responses: { 200: localModels },
    handler: async ({ gateway }) => {
      const { state, reason, fetchedBytes, totalBytes } = await gateway.services.models.getLocalModels({});
      return { status: 200, body: { status: state, reason: reason || null, fetchedBytes, totalBytes } };
    },
  }),
];
