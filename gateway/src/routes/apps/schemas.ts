import { APP_BOUNDS, APP_PAYERS, APP_THEMES, toCredits } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { credits, line, slug, timestamp, type ParamsSpec } from "../../http/schemas";
import { publicSchema } from "../workflows/schemas";
import { schemaView } from "../workflows/views";
import type { App } from "../../apps/apps";
import type { Today } from "../../apps/budget";

export const appParams: ParamsSpec<{ slug: string }> = { schema: z.object({ slug }), invalid: () => notFound("app") };

const cover = z.string().nullable().meta({ description: "Address of a picture" });
const payer = z.enum(APP_PAYERS).meta({ description: "Payer of runs: the app's owner, or the signed-in visitor" });

const today = z
  .object({
    runsLeft: z.number().meta({ description: "Limit per visitor" }),
    creditsLeft: credits.meta({ description: "Limit for all visitors together" }),
    dailyCredits: credits,
    resetsAt: timestamp,
  })
  .meta({ id: "AppToday" });

export const appView = z
  .object({
    slug,
    ownerId: z.string(),
    title: z.string(),
    description: z.string(),
    cover,
    theme: z.enum(APP_THEMES),
    payer,
    perVisitorPerDay: z.number(),
    ...publicSchema.pick({ fields: true, values: true }).shape,
  })
  .meta({ id: "App" });

export const appCard = z.object({ slug, title: z.string(), description: z.string(), cover, payer }).meta({ id: "AppCard" });

export const tokenResult = z
  .object({
    token: z.string().meta({ description: "Sent as `Authorization: Bearer`", example: "nla_…" }),
    expiresAt: timestamp,
    visitor: z.string(),
    today,
  })
  .meta({ id: "AppToken" });

const earlier = z.string().min(1).max(4_000).optional().meta({
  description: "An earlier token of the same visitor, valid or expired for at most 30 days",
});
export const openTokenBody = z.strictObject({ token: earlier }).nullish();
export const tokenBody = z
  .strictObject({
    token: earlier,
    visitor: line(APP_BOUNDS.visitorChars)
      .min(1)
      .optional()
      .meta({ description: "Your id of the visitor, readable from the token. Default: random" }),
  })
  .nullish();

export const toAppView = ({ slug: name, ownerId, settings, schema }: App): Record<string, unknown> => {
  const { fields, values } = schemaView(schema);
  const { title, cover: picture, theme, payer: who, perVisitorPerDay } = settings;
  return {
    ...{ slug: name, ownerId, title, description: schema.description, cover: picture || null },
    ...{ theme, payer: who, perVisitorPerDay, fields, values },
  };
};

export const toCard = ({ cover: picture, ...card }: workflows.AppCard): z.infer<typeof appCard> => ({
  ...{ slug: card.slug, title: card.title, description: card.description, cover: picture || null },
  payer: card.payer as (typeof APP_PAYERS)[number],
});

export const toToday = ({ millicredits, remaining, resetsAt }: Today, runsLeft: number): z.infer<typeof today> => ({
  ...{ runsLeft, creditsLeft: toCredits(remaining), dailyCredits: toCredits(millicredits), resetsAt: resetsAt.toISOString() },
});
