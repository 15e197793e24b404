import { CANARY_BOUNDS, creditLimit, toCredits } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { credits, iso, timestamp } from "../../http/schemas";
import { maxCredits } from "../runs/schemas";

/** Canaries of aliases. */

const version = z.number().int().min(1).max(999_999_999).meta({ description: "The published version that gets a share of the runs" });
const percent = z.number().int().min(1).max(CANARY_BOUNDS.percent).meta({ description: "Share of the runs in percent", example: 10 });
const minRuns = z
  .number()
  .int()
  .min(CANARY_BOUNDS.leastRuns)
  .max(CANARY_BOUNDS.mostRuns)
  .meta({ description: "The canary is promoted after this number of its runs, if none of its metrics is worse", example: 50 });

export const canarySettings = z
  .strictObject({
    version,
    percent,
    minRuns,
    maxCredits: maxCredits.meta({
      description:
        "The most that all runs of the canary can cost together, in credits. Before a run could exceed it, the canary is rolled back",
    }),
  })
  .meta({ id: "CanarySettings" });

const confidence = z.number().min(0).max(1);
const arm = z
  .object({
    runs: z
      .number()
      .meta({ description: "Runs that ended, without cancelled ones and those that failed for missing credits or refused content" }),
    failed: z.number(),
    creditsCost: credits.nullable().meta({ description: "Mean cost of completed runs; null if there are none" }),
    durationMs: z.number().nullable().meta({ description: "Mean duration of completed runs; null if there are none" }),
  })
  .meta({ id: "CanaryArm" });
export const canary = z
  .object({
    version,
    percent,
    minRuns,
    maxCredits: credits.nullable(),
    creditsCost: credits.meta({ description: "What its runs have cost together" }),
    startedAt: timestamp.nullable(),
    startedBy: z.string().meta({ description: "User id of the person who started it" }),
    base: arm.meta({ description: "Runs of the alias's version since the start of the canary" }),
    canary: arm.meta({ description: "Runs of the canary" }),
    confidence: z
      .object({ errors: confidence, cost: confidence, time: confidence })
      .meta({ description: "Confidence that the canary is worse, valid at any time that you read it. All together decide at 0.95" }),
  })
  .meta({ id: "Canary" });

const endOf = {
  outcome: z.enum(["promoted", "rolled_back"]),
  reason: z
    .enum(["errors", "cost", "time", "max_credits"])
    .nullable()
    .meta({ description: "The metric that is worse, or `max_credits` if the limit was reached; null for a promotion" }),
  confidence: confidence.meta({ description: "Confidence that the canary is worse" }),
};
export const lastCanary = z
  .object({ version, ...endOf, endedAt: timestamp.nullable(), base: arm, canary: arm })
  .meta({ id: "EndedCanary", description: "The last canary that was promoted or rolled back" });

/** Data of the event `canary.ended`. */
export const canaryEnded = z
  .object({
    workflowSlug: z.string(),
    alias: z.string(),
    version: z.number().meta({ description: "The version that the alias points to now" }),
    ...endOf,
    base: arm,
    canary: arm.extend({ version }),
  })
  .meta({ id: "CanaryEnded" });

const armView = (message: workflows.CanaryArm | undefined): z.infer<typeof arm> => {
  const { runs = 0, failed = 0, millicredits, durationMs } = message ?? {};
  return {
    ...{ runs, failed },
    creditsCost: millicredits === undefined ? null : toCredits(Math.round(millicredits)),
    durationMs: durationMs === undefined ? null : Math.round(durationMs),
  };
};

export const canaryView = (message: workflows.Canary): z.infer<typeof canary> => {
  const { settings, startedAt, startedBy, base, canary: own, confidence: byMetric, millicredits } = message;
  const { maxMillicredits, ...shown } = settings!;
  return {
    ...shown,
    maxCredits: maxMillicredits === undefined ? null : toCredits(maxMillicredits),
    creditsCost: toCredits(millicredits),
    startedAt: iso(startedAt),
    startedBy,
    base: armView(base),
    canary: armView(own),
    confidence: byMetric!,
  };
};

export const lastCanaryView = ({
  reason,
  outcome,
  endedAt,
  base,
  canary: own,
  ...rest
}: workflows.EndedCanary): z.infer<typeof lastCanary> => ({
  ...rest,
  outcome: outcome as "promoted" | "rolled_back",
  reason: reason === "" ? null : (reason as "errors"),
  endedAt: iso(endedAt),
  base: armView(base),
  canary: armView(own),
});

export const canaryMessage = ({ maxCredits: most, ...settings }: z.infer<typeof canarySettings>): workflows.CanarySettings => ({
  ...settings,
  maxMillicredits: most === undefined ? undefined : creditLimit(most),
});
