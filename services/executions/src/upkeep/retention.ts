import type { Logger, Removal } from "@nodeloom/platform";
import type { RetentionReport } from "../carry/reports";
import { TIMING } from "../run/timing";

/** Whoever keeps something: one call removes one page of what was kept long enough, and may be repeated. */
export interface Owner {
  removeExpired(request: { cursor: string }, options?: { deadlineMs?: number }): Promise<Removal>;
}

export interface RetentionOptions {
  /** By the names under which they are reported. */
  owners: Readonly<Record<string, Owner>>;
  logger: Logger;
}

/** The cursor at which each owner goes on; `DONE` at its end. */
export type RetentionProgress = Partial<Record<string, string>>;
const DONE = "done";

/**
 * Has every owner remove what it has kept long enough, page by page. An owner that fails keeps no other from removing; the whole
 * fails at its end then, and is repeated.
 */
export const createRetention =
  ({ owners, logger }: RetentionOptions) =>
  /**
   * @param beat hears after every page how far it is; it throws when there is no time left
   * @param progress what `beat` heard last in an attempt before this one
   */
  async (beat: (progress: RetentionProgress) => void, progress: RetentionProgress = {}): Promise<RetentionReport> => {
    const reached: RetentionProgress = { ...progress };
    const report: RetentionReport = {};
    let failure: unknown;
    for (const [name, owner] of Object.entries(owners)) {
      const counts = (report[name] = {} as Record<string, number>);
      while (reached[name] !== DONE) {
        const page = await owner
          .removeExpired({ cursor: reached[name] ?? "" }, { deadlineMs: TIMING.renewPage })
          .catch((error: unknown) => {
            logger.warn({ err: error, owner: name }, "an owner could not remove what it has kept long enough");
            failure ??= error;
          });
        if (!page) break;
        for (const [kind, removed] of Object.entries(page.removed)) counts[kind] = (counts[kind] ?? 0) + removed;
        reached[name] = page.nextCursor || DONE;
        beat({ ...reached });
      }
    }
    logger.info({ removed: report }, "what was kept long enough was removed");
    if (failure !== undefined) throw failure;
    return report;
  };
