import { models } from "@nodeloom/proto";
import { z } from "zod";
import { audit } from "../audit";
import { model, modelView } from "../model-view";
import { price, toStoredPrice } from "../prices";
import { defineRoute } from "../route";
import { baseTier, modelParams } from "../schemas";

const changes = z
  .strictObject({ enabled: z.boolean().optional(), price: price.optional(), minTier: baseTier.optional() })
  .meta({ id: "ModelChanges" });

export const adminModelRoutes = [
  defineRoute({
    method: "PATCH",
    path: "/api/admin/models/:internalName",
    operationId: "adminUpdateModel",
    summary: "Enable or disable a model, or change its wholesale price or lowest tier",
    tag: "Admin",
    auth: "admin",
    limit: "user",
    params: modelParams,
    body: changes,
    responses: { 200: model },
    errors: ["INVALID_SLUG", "MODEL_NOT_FOUND"],
    example: { enabled: true, price: { perImageUsd: 0.025 } },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const { model: stored, before } = await gateway.services.models.updateModel(
        models.UpdateModelRequest.fromPartial({
          internalName: params.internalName,
          enabled: body.enabled,
          price: body.price && toStoredPrice(body.price),
          minTier: body.minTier,
        }),
      );
      if (!stored) throw new Error("models answered without a model");
      const overridable = (of: models.Model | undefined): unknown => of && { enabled: of.enabled, price: of.price, minTier: of.minTier };
      audit(context, { action: "model.update", target: stored.internalName, before: overridable(before), after: overridable(stored) });
      return { status: 200, body: modelView(stored) };
    },
  }),
];
