import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { media as mediaProto } from "@nodeloom/proto";
import type { RetentionReport } from "../../contract/reports";
import type { Billing, Identity, Media, Usage, Workflows } from "../../clients";
import { TIMING } from "../../contract/timing";
import type { ExecutionStore } from "../../record/store";

type Kind = keyof RetentionReport;

/** How far an enforcement has come: where each kind goes on. `DONE` at its end. */
export type RetentionProgress = Partial<Record<Kind, string>>;
const DONE = "done";

export interface RetentionOptions {
  store: Pick<ExecutionStore, "removeExecutions" | "removeRefused" | "removeSubmissions" | "removePayloads">;
  media: Pick<Media, "listExpiring" | "hideExpired" | "restoreExpired" | "removeExpired" | "finishAbandoned">;
  workflows: Pick<Workflows, "findNamedMedia" | "finishAbandoned">;
  usage: Pick<Usage, "pruneRows">;
  identity: Pick<Identity, "pruneAudit">;
  billing: Pick<Billing, "writeCheckpoints">;
  /** How long executions are kept. */
  executionDays?: number;
  logger: Logger;
  now?: () => Date;
}

type NamedFile = Pick<mediaProto.StoredObject, "id" | "key">;

interface Page {
  removed: number;
  /** Where to go on; empty at the end. */
  next: string;
}

const EXECUTIONS_PAGE = 100;
const MEDIA_PAGE = 200;
const ROWS_PAGE = 1_000;
/** Of pages that begin at the oldest each time: anything but empty. */
const AGAIN = "again";

const untilNone = (removed: number): Page => ({ removed, next: removed === 0 ? "" : AGAIN });

/**
 * Enforces the table of what is kept and how long, page by page. Each page may be repeated; what one kind can't remove keeps no
 * other from being removed.
 */
export const createRetention = (options: RetentionOptions) => {
  const {
    store,
    media,
    workflows,
    usage,
    identity,
    billing,
    executionDays = RETENTION.executions.days,
    logger,
    now = () => new Date(),
  } = options;
  const call = { deadlineMs: TIMING.renewPage };

  /** Those of some files that are named, and those that are not. */
  const byName = async (objects: readonly NamedFile[]): Promise<{ named: string[]; unnamed: NamedFile[] }> => {
    const asked = objects.flatMap(({ id, key }) => [id, key]);
    const found = new Set(asked.length === 0 ? [] : (await workflows.findNamedMedia({ names: asked }, call)).names);
    const isNamed = ({ id, key }: NamedFile): boolean => found.has(id) || found.has(key);
    return { named: objects.filter(isNamed).map(({ id }) => id), unnamed: objects.filter((object) => !isNamed(object)) };
  };

  const restore = async (ids: string[]): Promise<void> => void (ids.length > 0 && (await media.restoreExpired({ ids }, call)));

  /**
   * Generated files that are neither kept nor named by a workflow. They are hidden first: a workflow that names one after that names
   * a file that is not there, and one that named it before is found by asking once more.
   */
  const removeMedia = async (after: string): Promise<Page> => {
    const before = expiresBefore(RETENTION.generatedMedia, now());
    const page = await media.listExpiring({ before, limit: MEDIA_PAGE, after }, call);
    const { named, unnamed } = await byName(page.objects);
    // Hidden by an attempt that was cut short.
    await restore(named);
    if (unnamed.length === 0) return { removed: 0, next: page.next };
    const hidden = new Set((await media.hideExpired({ ids: unnamed.map(({ id }) => id), before }, call)).ids);
    const again = await byName(unnamed.filter(({ id }) => hidden.has(id)));
    await restore(again.named);
    const ids = again.unnamed.map(({ id }) => id);
    const removed = ids.length === 0 ? 0 : (await media.removeExpired({ ids, before }, call)).removed;
    return { removed, next: page.next };
  };

  /** One page of each kind, from where the last one ended. */
  const pages: Readonly<Record<Kind, (cursor: string) => Promise<Page>>> = {
    finished: async () => ({
      removed: (await media.finishAbandoned({}, call)).finished + (await workflows.finishAbandoned({}, call)).finished,
      next: "",
    }),
    executions: (cursor) => store.removeExecutions(expiresBefore({ days: executionDays }, now()), EXECUTIONS_PAGE, cursor),
    refusedRuns: async () => untilNone(await store.removeRefused(now(), ROWS_PAGE)),
    submissions: async () => untilNone(await store.removeSubmissions(expiresBefore(RETENTION.submissions, now()), ROWS_PAGE)),
    payloads: async () => untilNone(await store.removePayloads(now(), ROWS_PAGE)),
    media: removeMedia,
    usage: async () => untilNone((await usage.pruneRows({ before: expiresBefore(RETENTION.usage, now()), limit: ROWS_PAGE }, call)).pruned),
    audit: async () =>
      untilNone((await identity.pruneAudit({ before: expiresBefore(RETENTION.audit, now()), limit: ROWS_PAGE }, call)).pruned),
    checkpoints: async (cursor) => {
      const { written, nextCursor } = await billing.writeCheckpoints({ limit: 0, cursor }, call);
      return { removed: written, next: nextCursor };
    },
  };

  /**
   * @param beat told after every page how far it is; it throws when there is no time left
   * @param progress what an earlier attempt told
   */
  return async (beat: (progress: RetentionProgress) => void, progress: RetentionProgress = {}): Promise<RetentionReport> => {
    const reached: RetentionProgress = { ...progress };
    const report = {} as RetentionReport;
    let failure: unknown;
    for (const kind of Object.keys(pages) as Kind[]) {
      report[kind] = 0;
      while (reached[kind] !== DONE) {
        const page = await pages[kind](reached[kind] ?? "").catch((error: unknown) => {
          logger.warn({ err: error, kind }, "what was kept long enough could not be removed");
          failure ??= error;
        });
        if (!page) break;
        report[kind] += page.removed;
        reached[kind] = page.next || DONE;
        beat({ ...reached });
      }
    }
    logger.info(report, "what was kept long enough was removed");
    if (failure !== undefined) throw failure;
    return report;
  };
};
