import type { models } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { price, priceView, tierPrice, tierPriceView } from "./prices";
import { anyObject, slug } from "../../http/schemas";

/** Kind of polled providers. Only these support asynchronous runs. */
const POLLED = "http-polling";

export const model = z
  .object({
    internalName: slug,
    displayName: z.string(),
    description: z.string(),
    modality: z.string(),
    provider: z
      .object({ kind: z.string().meta({ description: "Protocol of its calls", example: POLLED }) })
      .meta({ description: "Protocol of the calls to its provider" }),
    company: z.string().meta({ description: "Provider that runs it", example: "fal" }),
    outputs: z.array(z.string()).meta({ description: "The members of a run's result", example: ["images"] }),
    inputSchema: anyObject.meta({ description: "JSON Schema of `inputs`" }),
    price: price.nullable().meta({ description: "Wholesale price" }),
    tierPrice: tierPrice.nullable().meta({ description: "Price for the caller in credits, with the markup of the caller's tier" }),
    minTier: z.string(),
    trialRuns: z.number(),
    asyncSupported: z.boolean(),
    enabled: z.boolean(),
    sandbox: z.boolean().meta({ description: "True for the local stand-in provider: no AI" }),
    runsAt: z
      .enum(["provider", "local", "sandbox"])
      .meta({ description: "Location: at a provider, on the platform's own machine, or in the sandbox", example: "local" }),
    status: z.enum(["ready", "needs-key", "downloading", "away"]).meta({
      description:
        "State of the model. Runs of a model that is `downloading` or `away` return 503 with `Retry-After`; runs of one that isn't installed return 404",
      example: "ready",
    }),
    tasks: z.array(z.string()).meta({ description: "Tasks for which `auto:<task>` can choose it", example: ["image", "edit"] }),
    statusReason: z.string().nullable().meta({ description: "Reason why it isn't ready, and the next step" }),
    asOf: z.string().nullable().meta({ description: "Day on which its id and price were read", example: "2026-10-04" }),
    source: z.string().nullable().meta({ description: "Source of the price" }),
    retiresOn: z.string().nullable().meta({ description: "Day on which its provider shuts it down, if known" }),
    retired: z.boolean().meta({ description: "True if it no longer runs. Only administrators see it" }),
    successor: z.string().nullable().meta({ description: "The model to use once it is retired" }),
    replaces: z.array(z.string()).meta({
      description: 'In lists: retired models that it replaces. It runs in their place in nodes with `onRetired: "successor"`',
    }),
    fallback: z.array(z.string()).meta({
      description: "Fallback models, in order, if this one rejects, is unavailable or fails. A node can name its own",
    }),
  })
  .meta({ id: "Model" });

/** A model for a client whose tier has this markup, without provider settings. */
export const modelView = (stored: models.Model, markupPermille: number): Record<string, unknown> => ({
  internalName: stored.internalName,
  displayName: stored.displayName,
  description: stored.description,
  modality: stored.modality,
  provider: { kind: stored.providerKind },
  company: stored.company,
  outputs: stored.outputs,
  inputSchema: raw(stored.inputSchemaJson, "{}"),
  price: priceView(stored.price),
  tierPrice: tierPriceView(stored.price, markupPermille),
  minTier: stored.minTier,
  trialRuns: stored.trialRuns,
  asyncSupported: stored.providerKind === POLLED,
  enabled: stored.enabled,
  sandbox: stored.sandbox,
  runsAt: stored.runsAt,
  status: stored.status?.state ?? "ready",
  tasks: stored.tasks,
  statusReason: stored.status?.reason || null,
  asOf: stored.asOf || null,
  source: stored.source || null,
  retiresOn: stored.retiresOn || null,
  retired: stored.retired,
  successor: stored.successor || null,
  replaces: stored.replaces,
  fallback: stored.fallback,
});
