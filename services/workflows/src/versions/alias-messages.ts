/** Aliases and canaries as messages. */
import { workflows as proto } from "@nodeloom/proto";
import type { AnnouncedDecision } from "../canaries/counting";
import { confidences, noEvidence } from "../canaries/evidence";
import type { Arm, Canary, CanarySettings, EndedCanary } from "../definition/canary";
import type { NamedAlias } from "./aliases";

const NO_RUNS: Arm = { runs: 0, failed: 0, millicredits: 0, durationMs: 0 };

const toArm = ({ runs, failed, millicredits, durationMs }: Arm): proto.CanaryArm => {
  const completed = runs - failed;
  return proto.CanaryArm.fromPartial({
    ...{ runs, failed },
    ...(completed > 0 ? { millicredits: millicredits / completed, durationMs: durationMs / completed } : {}),
  });
};

const toEnded = ({ base, canary, ...ended }: Omit<EndedCanary, "id">): proto.EndedCanary =>
  proto.EndedCanary.fromPartial({ ...ended, base: toArm(base), canary: toArm(canary) });

export const toCanarySettings = ({ version, percent, minRuns, maxMillicredits }: proto.CanarySettings): CanarySettings => ({
  ...{ version, percent, minRuns },
  ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
});

const toCanary = ({ canary, results }: NamedAlias): proto.Canary | undefined =>
  canary &&
  proto.Canary.fromPartial({
    settings: canary,
    startedAt: canary.startedAt,
    startedBy: canary.startedBy,
    base: toArm(results?.base ?? NO_RUNS),
    canary: toArm(results?.canary ?? NO_RUNS),
    confidence: confidences(results?.evidence ?? noEvidence()),
    millicredits: results?.spentMillicredits ?? 0,
  });

export const toAlias = (alias: NamedAlias): proto.Alias => {
  const { results: _, canary: __, lastCanary, ...rest } = alias;
  return proto.Alias.fromPartial({ ...rest, canary: toCanary(alias), lastCanary: lastCanary && toEnded(lastCanary) });
};

export const toDecision = ({ results, decision }: AnnouncedDecision): proto.CanaryDecision => {
  const { _id: canaryId, slug, ownerId, alias, versionBefore, version, startedBy } = results;
  const isPromoted = decision.outcome === "promoted";
  return proto.CanaryDecision.fromPartial({
    ...{ canaryId, slug, ownerId, alias, versionBefore, startedBy, version: isPromoted ? version : versionBefore },
    ended: toEnded({ ...decision, version }),
  });
};

export const toShare = ({ id, version, percent, maxMillicredits }: Canary): proto.CanaryShare => ({
  ...{ id, version, percent },
  isLimited: maxMillicredits !== undefined,
});
