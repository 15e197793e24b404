/** Deletes expired data of all owners concurrently. */
import type { Logger, Removal } from "@nodeloom/platform";
import { notePass } from "../meters";
import type { RetentionReport } from "../workflow/activity-types";
import { TIMING } from "../run/timing";
import { throughPages, type OwnerPage, type OwnerProgress } from "./owner-pages";

/** A service with expired data. Each call deletes one page and can be repeated. */
export interface Owner {
  removeExpired(request: { cursor: string }, options?: { deadlineMs?: number }): Promise<Removal>;
}

export interface RetentionOptions {
  owners: Readonly<Record<string, Owner>>;
  logger: Logger;
}

export type RetentionProgress = OwnerProgress;

/**
 * Asks every service to delete its expired data, page by page. If a service fails, the others continue; the pass then fails at the end and
 * is repeated.
 */
export const createRetention = ({ owners, logger }: RetentionOptions) => {
  const failed = "an owner could not remove what it has kept long enough";
  /** Runs `throughPages` once per owner, so that an owner with much data doesn't delay the others. */
  return async (beat: (progress: RetentionProgress) => void, progress: RetentionProgress = {}): Promise<RetentionReport> => {
    const reached: RetentionProgress = { ...progress };
    const passes = Object.entries(owners).map(([name, owner]) => {
      const page: OwnerPage = (cursor) => owner.removeExpired({ cursor }, { deadlineMs: TIMING.renewPage });
      const noted = (own: RetentionProgress): void => beat({ ...Object.assign(reached, own) });
      return throughPages({ owners: { [name]: page }, failed, logger }, noted, { [name]: progress[name] }).then((report) => {
        notePass(name);
        return report;
      });
    });
    const ends = await Promise.allSettled(passes);
    const report: RetentionReport = {};
    for (const end of ends) if (end.status === "fulfilled") Object.assign(report, end.value);
    logger.info({ removed: report }, "what was kept long enough was removed");
    const failure = ends.find((end) => end.status === "rejected");
    if (failure) throw failure.reason;
    return report;
  };
};
