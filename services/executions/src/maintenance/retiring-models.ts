import { RETENTION } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { models as modelsProto, workflows as workflowsProto } from "@nodeloom/proto";
import type { Models, Notifications, Workflows } from "../clients";
import { TIMING } from "../run/timing";
import type { RetiringReport } from "../workflow/activity-types";

/** Sends notices of models that providers shut down: one for each account and model, 30 days and again 7 days before. */

const DAY_MS = 86_400_000;
/** Days before the shutdown, shortest first. */
const STAGES = [7, 30] as const;
const MOST_WORKFLOWS = 20;

/** Position of a pass. All accounts up to the cursor have their notices. */
export interface RetiringProgress {
  notices: number;
  cursor: string;
}

export interface RetiringOptions {
  models: Pick<Models, "listModels">;
  workflows: Pick<Workflows, "listModelUses">;
  notifications: Pick<Notifications, "send">;
  /** How many days notifications remembers delivered webhooks. */
  executionDays: number;
  logger: Logger;
  now?: () => number;
}

/**
 * Returns the stage whose notice is due. A notice stays due for some days, in case a pass fails or Temporal is unavailable. It must not
 * stay due longer than notifications remembers sent notices.
 * @param day date in the form YYYY-MM-DD
 */
export const dueStage = (day: string, now: number, rememberedDays: number): number | undefined => {
  const daysLeft = Date.parse(day) / DAY_MS - Math.floor(now / DAY_MS);
  return STAGES.find((stage) => daysLeft > 0 && daysLeft <= stage && daysLeft > stage - rememberedDays);
};

type Leaving = ReadonlyMap<string, { model: modelsProto.Model; stage: number }>;

const byOwner = (uses: readonly workflowsProto.ModelUse[]): Map<string, workflowsProto.ModelUse[]> => {
  const owners = new Map<string, workflowsProto.ModelUse[]>();
  for (const use of uses) owners.set(use.ownerId, [...(owners.get(use.ownerId) ?? []), use]);
  return owners;
};

export const createRetiringNotices = ({ models, workflows, notifications, executionDays, logger, now = Date.now }: RetiringOptions) => {
  const remembered = Math.min(executionDays, RETENTION.mails.days);

  const leavingModels = async (): Promise<Leaving> => {
    const { models: enabled } = await models.listModels({ includeDisabled: false }, { deadlineMs: TIMING.renewPage });
    const due = enabled.flatMap((model) => {
      const stage = model.retiresOn === "" ? undefined : dueStage(model.retiresOn, now(), remembered);
      return stage === undefined ? [] : [[model.internalName, { model, stage }] as const];
    });
    return new Map(due);
  };

  /** @returns number of notices, including notices that were sent earlier */
  const tell = async (ownerId: string, uses: readonly workflowsProto.ModelUse[], leaving: Leaving): Promise<number> => {
    let notices = 0;
    for (const [name, { model, stage }] of leaving) {
      const affected = uses.filter((use) => use.models.includes(name));
      if (affected.length === 0) continue;
      const { retiresOn, successor } = model;
      const value = {
        ...{ ownerId, model: name, retiresOn, successor },
        workflows: affected.slice(0, MOST_WORKFLOWS).map((use) => ({ slug: use.slug, name: use.name })),
        workflowCount: affected.length,
      };
      // Notifications accepts an id once, so a repeated pass doesn't send a notice again.
      const id = `${name}-${retiresOn}-${stage}-${ownerId}`;
      await notifications.send({ id, message: { $case: "modelRetiring", value } }, { deadlineMs: TIMING.renewPage });
      notices += 1;
    }
    return notices;
  };

  return async (
    beat: (progress: RetiringProgress) => void,
    earlier: RetiringProgress = { notices: 0, cursor: "" },
  ): Promise<RetiringReport> => {
    const leaving = await leavingModels();
    let { notices, cursor } = earlier;
    if (leaving.size > 0)
      do {
        const page = await workflows.listModelUses({ models: [...leaving.keys()], cursor }, { deadlineMs: TIMING.renewPage });
        for (const [ownerId, uses] of byOwner(page.uses)) notices += await tell(ownerId, uses, leaving);
        cursor = page.nextCursor;
        beat({ notices, cursor });
      } while (cursor !== "");
    const report = { models: leaving.size, notices };
    logger.info(report, "owners were told of models that are shut down soon");
    return report;
  };
};
