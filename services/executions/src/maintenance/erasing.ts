/** Closes an account: exports its data as an archive, and erases it. */
import type { Erase, Logger } from "@nodeloom/platform";
import type { RetentionReport } from "../workflow/activity-types";
import type { PagedWork } from "../workflow/upkeep-activities";
import type { Erasure } from "../clients";
import { TIMING } from "../run/timing";
import { throughPages, type OwnerPage, type OwnerProgress } from "./owner-pages";

export interface ErasingOptions {
  executions: Erase;
  /** The other services, in the order of erasure. */
  services: Readonly<Record<string, Pick<Erasure, "erase">>>;
  logger: Logger;
}

/**
 * Erases an account in every service. Runs are erased before the files that they use. Identity is erased last, because it stores the
 * erasure mark.
 */
export const createErasing =
  ({ executions, services, logger }: ErasingOptions) =>
  (userId: string): PagedWork<OwnerProgress, RetentionReport> => {
    const remote = Object.entries(services).map(([name, service]): [string, OwnerPage] => [
      name,
      async (cursor) => {
        const { erased, nextCursor } = await service.erase({ ownerId: userId, cursor }, { deadlineMs: TIMING.erasePage });
        return { removed: erased, nextCursor };
      },
    ]);
    const owners: Record<string, OwnerPage> = {
      executions: (cursor) => executions(userId, cursor),
      ...Object.fromEntries(remote),
    };
    return (beat, progress) =>
      throughPages({ owners, failed: "a service could not erase what it keeps of an account", logger }, beat, progress);
  };
