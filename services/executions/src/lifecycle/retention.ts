import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import type { Media, Usage, Workflows } from "../clients";
import { TIMING } from "../contract/timing";

/** What was removed because it was kept long enough. */
export interface RetentionReport {
  media: number;
  usage: number;
  /** Removals that a crash had cut short. */
  finished: number;
}

export interface RetentionOptions {
  media: Pick<Media, "listExpiring" | "removeExpired" | "finishAbandoned">;
  workflows: Pick<Workflows, "findNamedMedia" | "finishAbandoned">;
  usage: Pick<Usage, "pruneRows">;
  now?: () => Date;
}

const MEDIA_PAGE = 200;
const USAGE_PAGE = 1_000;

/** Enforces the table of what is kept and how long, page by page. `beat` is told after every page. */
export const createRetention = ({ media, workflows, usage, now = () => new Date() }: RetentionOptions) => {
  const options = { deadlineMs: TIMING.renewPage };

  /** Generated files that nobody keeps and nothing names. */
  const removeMedia = async (beat: () => void): Promise<number> => {
    const before = expiresBefore(RETENTION.generatedMedia, now());
    let removed = 0;
    let after = "";
    do {
      const page = await media.listExpiring({ before, limit: MEDIA_PAGE, after }, options);
      const names = page.objects.flatMap(({ id, key }) => [id, key]);
      const named = new Set(names.length === 0 ? [] : (await workflows.findNamedMedia({ names }, options)).names);
      const ids = page.objects.filter(({ id, key }) => !named.has(id) && !named.has(key)).map(({ id }) => id);
      if (ids.length > 0) removed += (await media.removeExpired({ ids, before }, options)).removed;
      after = page.next;
      beat();
    } while (after !== "");
    return removed;
  };

  const removeUsage = async (beat: () => void): Promise<number> => {
    const before = expiresBefore(RETENTION.usage, now());
    let removed = 0;
    for (;;) {
      const { pruned } = await usage.pruneRows({ before, limit: USAGE_PAGE }, options);
      removed += pruned;
      beat();
      if (pruned === 0) return removed;
    }
  };

  return async (beat: () => void): Promise<RetentionReport> => {
    const finished = (await media.finishAbandoned({}, options)).finished + (await workflows.finishAbandoned({}, options)).finished;
    return { finished, media: await removeMedia(beat), usage: await removeUsage(beat) };
  };
};
