import { applyAccountChanges } from "../../edge/plan-change";
import { CAP_NAMES, CAPS, capsFromNumbers, capsToNumbers, fromCredits, invalidRequest, toCredits, type CapName } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { z } from "zod";
import { audited } from "../../edge/audit";
import { forAdmins } from "./shared";
import { notFound } from "../../http/errors";
import type { Gateway } from "../../edge/gateway";
import { defineRoute } from "../../edge/route";
import { credits, listQuery, MAX_CREDITS, MIN_CREDITS, tierId } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const PERMILLE = 1_000;
const MAX_PER_MINUTE = 1_000_000;
const MAX_MARKUP = 100;
const MAX_CONCURRENCY = 10_000;

const cap = (name: CapName) =>
  z
    .number()
    .int()
    .min(1)
    .max(CAPS[name].ceiling)
    .nullable()
    .optional()
    .meta({ description: `Null: ${CAPS[name].ceiling}` });
const caps = z
  .strictObject(Object.fromEntries(CAP_NAMES.map((name) => [name, cap(name)])) as Record<CapName, ReturnType<typeof cap>>)
  .meta({
    id: "TierCaps",
    description: "Limits of an account of the tier. Null: the platform's maximum. Absent: the limit of its `base`",
  });

const settings = z.strictObject({
  base: z.enum(["pro", "business", "enterprise"]),
  rateLimitPerMinute: z.number().int().min(1).max(MAX_PER_MINUTE).nullable().meta({ description: "Null: unlimited" }),
  markup: z
    .number()
    .min(1)
    .max(MAX_MARKUP)
    .meta({ description: "Factor on the provider's price, with up to three decimals", example: 1.25 }),
  monthlyCredits: credits.min(MIN_CREDITS).max(MAX_CREDITS),
  concurrency: z.number().int().min(1).max(MAX_CONCURRENCY),
  caps: caps.optional(),
});
const tier = settings.extend({ id: tierId }).meta({ id: "CustomTier" });
/** The path has the id, but the body accepts one so that a tier can be sent back as it was read. */
const tierSettings = settings.extend({ id: tierId.optional() }).meta({ id: "CustomTierSettings" });

const view = (stored: identity.Tier): z.infer<typeof tier> => ({
  id: stored.id,
  base: stored.base as z.infer<typeof tier>["base"],
  rateLimitPerMinute: stored.rateLimitPerMinute ?? null,
  markup: stored.markupPermille / PERMILLE,
  monthlyCredits: toCredits(stored.monthlyMillicredits),
  concurrency: stored.concurrency,
  ...(Object.keys(stored.caps).length === 0 ? {} : { caps: capsFromNumbers(stored.caps) }),
});

const toStored = (id: string, newSettings: z.infer<typeof tierSettings>): identity.Tier =>
  identity.Tier.fromPartial({
    id,
    base: newSettings.base,
    rateLimitPerMinute: newSettings.rateLimitPerMinute ?? undefined,
    markupPermille: Math.round(newSettings.markup * PERMILLE),
    monthlyMillicredits: fromCredits(newSettings.monthlyCredits),
    concurrency: newSettings.concurrency,
    caps: capsToNumbers(newSettings.caps ?? {}),
  });

const findTier = async ({ services }: Gateway, id: string): Promise<identity.Tier | undefined> =>
  (await services.identity.listTiers({})).tiers.find((candidate) => candidate.id === id);

const params = z.object({ id: tierId });
const ofTier = {
  ...forAdmins,
  path: "/api/admin/tiers/:id",
  params: { schema: params, invalid: () => notFound("tier") },
  errors: ["NOT_FOUND"],
} as const;
const namesNoTier = () =>
  invalidRequest([{ path: "id", message: "must be lower-case letters, digits and hyphens, at most 64 characters" }]);

export const adminTierRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/tiers",
    query: listQuery(),
    operationId: "adminListTiers",
    summary: "List the custom tiers",
    responses: { 200: z.array(tier) },
    handler: async ({ gateway }) => ({ status: 200, body: (await gateway.services.identity.listTiers({})).tiers.map(view) }),
  }),
  defineRoute({
    ...ofTier,
    method: "GET",
    operationId: "adminGetTier",
    summary: "Read a custom tier",
    responses: { 200: tier },
    handler: async ({ gateway, params }) => {
      const stored = await findTier(gateway, params.id);
      if (!stored) throw notFound("tier");
      return { status: 200, body: view(stored) };
    },
  }),
  defineRoute({
    ...ofTier,
    method: "PUT",
    params: { schema: params, invalid: namesNoTier },
    errors: [],
    operationId: "adminPutTier",
    summary: "Create or replace a custom tier",
    description: "Its users have the new rights, limits and markup at once, and the new credits from their next renewal on.",
    body: jsonBody(tierSettings),
    responses: { 200: tier },
    example: { base: "business", rateLimitPerMinute: 3000, markup: 1.25, monthlyCredits: 20000, concurrency: 80 },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const before = await findTier(gateway, params.id);
      const action = { action: "tier.put", target: params.id, change: body, before: before && view(before) };
      const changed = await audited(context, action, async () => {
        const { tier: stored } = await gateway.services.identity.putTier({ tier: toStored(params.id, body) });
        if (!stored) throw new Error("identity answered without a tier");
        return { value: view(stored), after: view(stored) };
      });
      applyAccountChanges(gateway);
      return { status: 200, body: changed };
    },
  }),
  defineRoute({
    ...ofTier,
    method: "DELETE",
    operationId: "adminDeleteTier",
    summary: "Delete a custom tier without users",
    responses: { 204: null },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, params } = context;
      const before = await findTier(gateway, params.id);
      await audited(context, { action: "tier.delete", target: params.id, before: before && view(before) }, async () => ({
        value: await gateway.services.identity.deleteTier({ id: params.id }),
      }));
      return { status: 204 };
    },
  }),
];
