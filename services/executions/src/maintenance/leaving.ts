import type { Logger } from "@nodeloom/platform";
import type { LeavingOptions } from "../workflow/leaving-activities";
import type { Leaver } from "../workflow/leaving";
import type { AccountErasure, Billing, Identity, Media, MediaExports, Triggers, Usage, Workflows, Erasure } from "../clients";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";
import type { OwnerProgress } from "./owner-pages";
import type { BatchReads } from "../batches/reads";
import type { Reads } from "../reads/reads";
import { createEraseExecutions } from "../erasure/erase";
import { createErasing, type ErasingOptions } from "./erasing";
import { createEntries } from "./export/entries";
import { createAccountExports, type AccountExports } from "./export/exports";
import type { LeavingStore } from "../record/erasure/leaving";
import type { StopAccount } from "../erasure/stop-account";

export interface EndingOptions {
  store: Pick<LeavingStore, "countOpen">;
  triggers: Pick<Erasure, "erase">;
  stopAccount: StopAccount;
}

/** Ends all runs and batches of an account, first the sources of new runs. Returns the number of runs and batches that haven't ended yet. */
export const createEndUnderWay = ({ store, triggers, stopAccount }: EndingOptions) => {
  const endTriggers = async (ownerId: string): Promise<void> => {
    let cursor = "";
    do cursor = (await triggers.erase({ ownerId, cursor }, { deadlineMs: TIMING.erasePage })).nextCursor;
    while (cursor !== "");
  };

  return async (userId: string, beat: () => void): Promise<number> => {
    await endTriggers(userId);
    await stopAccount(userId, { beat });
    return store.countOpen(userId);
  };
};

export interface LeavingParts extends Pick<EndingOptions, "stopAccount"> {
  stores: Pick<Stores, "leaving" | "payloads" | "moderation" | "movedTriggers" | "erasures">;
  services: {
    billing: Billing;
    identity: Identity;
    media: Media;
    triggers: Triggers;
    usage: Usage;
    workflows: Workflows;
    mediaExports: MediaExports;
    accountErasure: AccountErasure;
  };
  erasures: ErasingOptions["services"] & { triggers: EndingOptions["triggers"] };
  batches: { reads: BatchReads };
  reads: Reads;
  leaver: Leaver;
  logger: Logger;
}

export interface Leaving {
  exports: AccountExports;
  activities: LeavingOptions<OwnerProgress>;
}

export const createLeaving = (parts: LeavingParts): Leaving => {
  const { stores, services, erasures, batches, reads, leaver, logger } = parts;
  const store = stores.leaving;
  const entries = createEntries({ store, reads, batches: batches.reads, services, fileMs: TIMING.keepFile });
  const exports = createAccountExports({ entries, media: services.mediaExports, leaver });
  return {
    exports,
    activities: {
      accountErasure: services.accountErasure,
      endUnderWay: createEndUnderWay({ store, triggers: erasures.triggers, stopAccount: parts.stopAccount }),
      erase: createErasing({
        executions: createEraseExecutions({
          ...{
            store,
            payloads: stores.payloads,
            moderation: stores.moderation,
            moved: stores.movedTriggers,
            erasures: stores.erasures,
            leaver,
          },
        }),
        services: erasures,
        logger,
      }),
      buildExport: exports.build,
    },
  };
};
