/** Pages through several services. Each service continues from its last position. */
import type { Logger, Removal } from "@nodeloom/platform";

/** Processes one page. Repeating a page is safe. */
export type OwnerPage = (cursor: string) => Promise<Removal>;

/** Cursor of each service; `DONE` after its last page. */
export type OwnerProgress = Partial<Record<string, string>>;
const DONE = "done";

export interface OwnerPagesOptions {
  owners: Readonly<Record<string, OwnerPage>>;
  /** Log message for a service that fails. The other services continue. */
  failed: string;
  logger: Logger;
}

/**
 * @param beat receives the progress after every page; throws when no time is left
 * @param progress last progress that `beat` received in an earlier attempt
 * @returns number of processed documents by service and kind
 * @throws the first error, after all other services have finished
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
      const pageResult = await page(reached[name] ?? "").catch((error: unknown) => {
        logger.warn({ err: error, owner: name }, failed);
        failure ??= error;
      });
      if (!pageResult) break;
      for (const [kind, removed] of Object.entries(pageResult.removed)) counts[kind] = (counts[kind] ?? 0) + removed;
      reached[name] = pageResult.nextCursor || DONE;
      beat({ ...reached });
    }
  }
  if (failure !== undefined) throw failure;
  return report;
};
