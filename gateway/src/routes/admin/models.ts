import { LIMITS } from "@nodeloom/kernel";
import { models } from "@nodeloom/proto";
import { z } from "zod";
import { audited } from "../../edge/audit";
import { forAdmins } from "./shared";
import { model, modelView } from "../models/view";
import { price, priceView, toStoredPrice } from "../models/prices";
import { defineRoute } from "../../edge/route";
import { baseTier, modelParams, slug } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const changes = z
  .strictObject({
    enabled: z.boolean().optional(),
    price: price.optional(),
    minTier: baseTier.optional(),
    fallback: z
      .array(slug)
      .max(LIMITS.fallbackModels)
      .nullable()
      .optional()
      .meta({ description: "Fallback models, in order, if this one rejects, is unavailable or fails. `null` removes them" }),
  })
  .meta({ id: "ModelChanges" });

/** Changeable members of a model. */
const overridable = ({ enabled, price: stored, minTier, fallback }: models.Model): Record<string, unknown> => ({
  enabled,
  price: priceView(stored),
  minTier,
  fallback,
});

export const adminModelRoutes = [
  defineRoute({
    ...forAdmins,
    method: "PATCH",
    path: "/api/admin/models/:internalName",
    operationId: "adminUpdateModel",
    summary: "Enable or disable a model, or change its price, lowest tier or fallbacks",
    params: modelParams,
    body: jsonBody(changes),
    responses: { 200: model },
    errors: ["INVALID_SLUG", "MODEL_NOT_FOUND"],
    example: { enabled: true, price: { perImageUsd: 0.025 } },
    handler: async (context) => {
      const { params, body } = context;
      const { models: service } = context.gateway.services;
      const knownModel = (await service.listModels({ includeDisabled: true })).models.find(
        ({ internalName }) => internalName === params.internalName,
      );
      const action = { action: "model.update", target: params.internalName, change: body, before: knownModel && overridable(knownModel) };
      const changed = await audited(context, action, async () => {
        const { model: stored, before } = await service.updateModel(
          models.UpdateModelRequest.fromPartial({
            internalName: params.internalName,
            enabled: body.enabled,
            price: body.price && toStoredPrice(body.price),
            minTier: body.minTier,
            fallback: body.fallback === undefined ? undefined : { models: body.fallback ?? [] },
          }),
        );
        if (!stored) throw new Error("models answered without a model");
        return { value: stored, before: before && overridable(before), after: overridable(stored) };
      });
      return { status: 200, body: modelView(changed, context.caller.user.plan.markupPermille) };
    },
  }),
];
