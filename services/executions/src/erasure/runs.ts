/** Removes the data that is stored outside the row of an erased or emptied run. Each step can be repeated. */
import { unavailable } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Erasure, Media } from "../clients";
import { GRAPH_SETTLED_MS } from "../plan/kept-graphs";
import type { Stores } from "../record/stores";
import type { ExecutionView, Remains } from "../run/record";
import { isFinal } from "../run/states";
import { TIMING } from "../run/timing";
import type { Leaver } from "../workflow/leaving";

type RunFile = Awaited<ReturnType<Media["findRunFiles"]>>["files"][number];

export interface RunErasureOptions {
  stores: Pick<Stores, "tombstones" | "payloads" | "log">;
  media: Pick<Media, "findRunFiles" | "removeFiles" | "forgetInputs">;
  erasures: { usage: Pick<Erasure, "eraseRuns">; notifications: Pick<Erasure, "eraseRuns"> };
  leaver: Pick<Leaver, "removeRun" | "removeDeliveries">;
  now?: () => number;
}

const TEXTS_PAGE = 1_000;
const CALL = { deadlineMs: TIMING.erasePage } as const;

export const createRunErasure = ({ stores, media, erasures, leaver, now = Date.now }: RunErasureOptions) => {
  const { tombstones, payloads } = stores;

  /** Returns the names that an unerased run still uses: in its inputs, graph or result, or in results that a rerun reused. */
  const namedElsewhere = async (names: readonly string[], row: ExecutionView): Promise<Set<string>> => {
    const { _id, userId } = row;
    const usedNames = new Set(await tombstones.usedNames(names, userId));
    const look = (text: string | null): void => {
      if (text !== null) for (const name of names) if (text.includes(name)) usedNames.add(name);
    };
    if (row.isEmptied) look((await stores.log.whole(row)).resultJson);
    for await (const rerun of tombstones.rerunsOf(_id, userId)) {
      const { resultJson, nodes } = await stores.log.whole(rerun as ExecutionView);
      look(resultJson);
      look(JSON.stringify(nodes));
      for await (const call of tombstones.callsOf(rerun._id)) look(JSON.stringify(call));
    }
    return usedNames;
  };

  /**
   * Selects the files that can be removed: files that the run created, data from its request, and files of other erased runs that no other
   * run uses.
   */
  const candidates = async (files: readonly RunFile[], row: ExecutionView, { withKept }: Remains): Promise<RunFile[]> => {
    const makers = files.map(({ executionId }) => executionId).filter((id) => id !== "" && id !== row._id);
    const erasedMakers = makers.length === 0 ? new Set() : await tombstones.areGone(makers);
    const isOpen = ({ executionId, kept }: RunFile): boolean =>
      (withKept === true || !kept) && (executionId === "" || executionId === row._id || erasedMakers.has(executionId));
    return files.filter(isOpen);
  };

  const removeFiles = async (row: ExecutionView, remains: Remains): Promise<void> => {
    const { _id: executionId, userId: ownerId } = row;
    let cursor = "";
    do {
      const page = await media.findRunFiles({ executionId, ownerId, names: remains.uses, cursor }, CALL);
      const files = await candidates(page.files, row, remains);
      const usedNames =
        files.length === 0
          ? new Set()
          : await namedElsewhere(
              files.flatMap(({ id, key }) => [id, key]),
              row,
            );
      const ids = files.filter(({ id, key }) => !usedNames.has(id) && !usedNames.has(key)).map(({ id }) => id);
      await inMediaBatches(ids, async (batch) => {
        await media.removeFiles({ ids: batch, ownerId }, CALL);
        return [];
      });
      cursor = page.nextCursor;
    } while (cursor !== "");
    // Files that stay lose their texts.
    await media.forgetInputs({ executionId, ownerId }, CALL);
  };

  const removeTexts = async ({ _id, userId, resultHash }: ExecutionView, { texts, graph, batchId, index }: Remains): Promise<void> => {
    while ((await payloads.removeOwned([_id], TEXTS_PAGE, resultHash)) > 0);
    for (const hash of texts) if (!(await tombstones.isTextNamed(hash, userId))) await payloads.removeShared(hash, userId, new Date(now()));
    if (batchId !== undefined && index !== undefined) {
      const input = await tombstones.markRow(batchId, index);
      if (input !== undefined) await payloads.removeShared(input, batchId, new Date(now()));
      await tombstones.emptyRow(batchId, index);
    }
    if (graph === undefined || (await tombstones.isGraphNamed(graph, userId))) return;
    const isGone = await payloads.removeShared(graph, userId, new Date(now() - GRAPH_SETTLED_MS));
    if (!isGone) throw unavailable("another run may be about to name the graph of an erased one: it is looked at again");
  };

  /** Erases the runs that judged an erased run, because their inputs quote its result. Their outboxes remove the rest. */
  const removeMeasuring = async ({ userId }: ExecutionView, { batchId, index, isExpired }: Remains): Promise<void> => {
    if (batchId === undefined || index === undefined) return;
    for (const row of await tombstones.measuringRuns(batchId, index, userId)) {
      const buried = isFinal(row) && (await tombstones.bury(row, isExpired ? { isExpired } : {}));
      if (!buried) throw unavailable("a run that judges an erased one is under way: it is looked at again");
    }
  };

  const removeElsewhere = async ({ _id, userId: ownerId }: ExecutionView, { isExpired }: Remains): Promise<void> => {
    await erasures.notifications.eraseRuns({ ownerId, executionIds: [_id] }, CALL);
    await leaver.removeDeliveries(_id);
    if (!isExpired) await erasures.usage.eraseRuns({ ownerId, executionIds: [_id] }, CALL);
  };

  /**
   * Remove the run's Temporal workflow first, so that nothing writes afterwards. The webhook of an emptied run may not have been delivered
   * yet.
   */
  return async (row: ExecutionView): Promise<void> => {
    const { _id, remains } = row;
    if (!remains) return;
    await leaver.removeRun(_id);
    if (!row.isEmptied) {
      await removeElsewhere(row, remains);
      await removeMeasuring(row, remains);
    }
    await removeFiles(row, remains);
    await tombstones.removeCalls(_id);
    await removeTexts(row, remains);
    await tombstones.settle(_id);
  };
};
