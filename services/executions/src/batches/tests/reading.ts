/** Reads the items of a test batch with their rows, runs and files. */
import {
  mediaPrefix,
  userCostMicroUsd,
  type MediaUrls,
  type Measurements,
  type TestedFile,
  type TestedRun,
  type WorkflowTest,
} from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Media } from "../../clients";
import type { TestedView } from "../../record/runs/rows";
import type { Stores } from "../../record/stores";
import type { BatchRecord, BatchRow } from "../../run/batch";
import { itemExecutionId } from "../item";
import { statusOfRow } from "../view";

const MICRO_USD_PER_MILLICREDIT = 10;

export interface TestedItem {
  test: WorkflowTest;
  executionId: string;
  run: TestedRun;
  row: BatchRow;
}

export interface ReadingOptions {
  stores: Pick<Stores, "batches" | "rows" | "calls" | "payloads">;
  media: Pick<Media, "getObjectsByKey">;
  urls: MediaUrls;
  publicBaseUrl: string;
}

/** Returns the price of all calls of a run, including reused calls and calls paid by a grant. */
const priceOf = ({ costs, millicredits, markupPermille }: TestedView, savedMicroUsd: number): number => {
  const priced = userCostMicroUsd((costs?.costMicroUsd ?? 0) + savedMicroUsd, markupPermille) / MICRO_USD_PER_MILLICREDIT;
  return Math.max(millicredits, Math.ceil(priced));
};

/** Returns the result of a run; undefined if it has none. */
export const resultOf = async (
  payloads: Pick<Stores["payloads"], "getText">,
  { resultJson, resultHash }: Pick<TestedView, "resultJson" | "resultHash">,
): Promise<unknown> => {
  const json = resultJson ?? (resultHash === undefined ? null : await payloads.getText({ hash: resultHash }));
  return json === null ? undefined : (JSON.parse(json) as unknown);
};

export type ReadTested = ReturnType<typeof createReadTested>;

export const createReadTested = ({ stores, media, urls, publicBaseUrl }: ReadingOptions) => {
  const { batches, rows: runs, calls, payloads } = stores;
  const own = mediaPrefix(publicBaseUrl);

  /** Empty if the tests were deleted at the end of their retention. */
  const testsOf = async ({ test }: BatchRecord): Promise<WorkflowTest[]> => {
    const json = test ? await payloads.getText(test.tests) : null;
    return json === null ? [] : (JSON.parse(json) as WorkflowTest[]);
  };

  /** Looks up the files that results refer to, if they belong to the user. */
  const filesIn = async (results: readonly unknown[], userId: string): Promise<Map<string, TestedFile>> => {
    const keys = urls.keysIn(JSON.stringify(results));
    const objects = await inMediaBatches(keys, async (some) => (await media.getObjectsByKey({ keys: some })).objects);
    return new Map(objects.filter(({ ownerId }) => ownerId === userId).map((file) => [own + file.key, file]));
  };

  const savedBy = async (executionIds: readonly string[]): Promise<Map<string, number>> => {
    const saved = new Map<string, number>();
    for (const { executionId, savedMicroUsd = 0 } of await calls.savedIn(executionIds))
      saved.set(executionId, (saved.get(executionId) ?? 0) + savedMicroUsd);
    return saved;
  };

  /** Returns the tests of a batch with their runs, in order. */
  return async (batch: BatchRecord): Promise<TestedItem[]> => {
    const tests = await testsOf(batch);
    const items: BatchRow[] = await batches.rowsFrom(batch._id, 0, batch.total);
    const ids = items.map(({ index }) => itemExecutionId(batch._id, index));
    const [views, saved] = await Promise.all([runs.testedOf(ids), savedBy(ids)]);
    const byId = new Map(views.map((view) => [view._id, view]));
    const results = new Map(await Promise.all(views.map(async (view) => [view._id, await resultOf(payloads, view)] as const)));
    const files = await filesIn([...results.values()], batch.userId);
    return items.flatMap((row): TestedItem[] => {
      const test = tests[row.index];
      if (!test) return [];
      const executionId = itemExecutionId(batch._id, row.index);
      const view = byId.get(executionId);
      const run: TestedRun = {
        status: statusOfRow(batch, row),
        error: row.error ?? null,
        result: results.get(executionId),
        millicredits: view ? priceOf(view, saved.get(executionId) ?? 0) : 0,
        durationMs: view?.durationMs ?? null,
        fileAt: (url: string) => files.get(url),
        measurements: row.measured && (JSON.parse(row.measured.json) as Measurements),
        isGolden: batch.test?.of !== undefined,
      };
      return [{ test, executionId, run, row }];
    });
  };
};
