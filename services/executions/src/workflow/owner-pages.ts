/** Pages through several services; each continues where it stopped. */
import type { Logger, Removal } from "@nodeloom/platform";

/** Processes one page; safe to repeat. */
export type OwnerPage = (cursor: string) => Promise<Removal>;

/** Cursor of each service; `DONE` at its end. */
export type OwnerProgress = Partial<Record<string, string>>;
const DONE = "done";

export interface OwnerPagesOptions {
  owners: Readonly<Record<string, OwnerPage>>;
  /** Log message for a failing service; the others continue. */
  failed: string;
  logger: Logger;
}

/**
 * @param beat hears after every page how far it is; it throws when there is no time left
 * @param progress what `beat` heard last in an attempt before this one
 * @returns how much each owner did of each kind
 * @throws the first failure, once every other owner is at its end
 */
export const throughPages = async (
  { owners, failed, logger }: OwnerPagesOptions,
  beat: (progress: OwnerProgress) => void,
  progress: OwnerProgress = {},
): Promise<Record<string, Record<string, number>>> => {
  const reached: OwnerProgress = { ...progress };
  const report: Record<string, Record<string, number>> = {};
  let failure: unknown;
  for (const [name, page] of Object.entries(owners)) {
    const counts = (report[name] = {} as Record<string, number>);
    while (reached[name] !== DONE) {
      const done = await page(reached[name] ?? "").catch((error: unknown) => {
        logger.warn({ err: error, owner: name }, failed);
        failure ??= error;
      });
      if (!done) break;
      for (const [kind, removed] of Object.entries(done.removed)) counts[kind] = (counts[kind] ?? 0) + removed;
      reached[name] = done.nextCursor || DONE;
      beat({ ...reached });
    }
  }
  if (failure !== undefined) throw failure;
  return report;
};
