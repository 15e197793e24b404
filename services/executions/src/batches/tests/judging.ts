/** Judges the items of a test batch from their rows, runs and files. */
import {
  DomainError,
  isRecord,
  judgeTest,
  mediaPrefix,
  resultDifferences,
  userCostMicroUsd,
  type MediaUrls,
  type ResultDifference,
  type TestedFile,
  type TestedRun,
  type TestFailure,
  type WorkflowTest,
} from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Media, Workflows } from "../../clients";
import type { TestedView } from "../../record/rows";
import type { Stores } from "../../record/stores";
import { endOf, type BatchRecord, type BatchRow, type TestOutcome } from "../../run/batch";
import { itemExecutionId } from "../item";
import { statusOfRow } from "../view";

const MICRO_USD_PER_MILLICREDIT = 10;

export interface JudgedTest {
  test: WorkflowTest;
  executionId: string;
  run: TestedRun;
  /** Credits charged for the run. The run's price also includes the calls that it reused. */
  charged: number;
  failures: TestFailure[];
}

export interface JudgingOptions {
  stores: Pick<Stores, "batches" | "rows" | "calls" | "payloads">;
  media: Pick<Media, "getObjectsByKey">;
  workflows: Pick<Workflows, "notePassedTests">;
  urls: MediaUrls;
  publicBaseUrl: string;
}

type Read = Omit<JudgedTest, "failures">;

const isPassed = ({ failures }: JudgedTest): boolean => failures.length === 0;

export const outcomeOf = (judged: JudgedTest): TestOutcome => ({
  passed: isPassed(judged),
  millicredits: judged.run.millicredits,
  durationMs: judged.run.durationMs,
});

/** Returns the price of all calls of a run, including reused calls and calls paid by a grant. */
const priceOf = ({ costs, millicredits, markupPermille }: TestedView, savedMicroUsd: number): number => {
  const priced = userCostMicroUsd((costs?.costMicroUsd ?? 0) + savedMicroUsd, markupPermille) / MICRO_USD_PER_MILLICREDIT;
  return Math.max(millicredits, Math.ceil(priced));
};

export type Judging = ReturnType<typeof createJudging>;

export const createJudging = ({ stores, media, workflows, urls, publicBaseUrl }: JudgingOptions) => {
  const { batches, rows: runs, calls, payloads } = stores;
  const own = mediaPrefix(publicBaseUrl);

  /** Empty if the tests were deleted at the end of their retention. */
  const testsOf = async ({ test }: BatchRecord): Promise<WorkflowTest[]> => {
    const json = test ? await payloads.getText(test.tests) : null;
    return json === null ? [] : (JSON.parse(json) as WorkflowTest[]);
  };

  const resultOf = async ({ resultJson, resultHash }: TestedView): Promise<unknown> => {
    const json = resultJson ?? (resultHash === undefined ? null : await payloads.getText({ hash: resultHash }));
    return json === null ? undefined : (JSON.parse(json) as unknown);
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

  const read = async (batch: BatchRecord): Promise<Read[]> => {
    const tests = await testsOf(batch);
    const items: BatchRow[] = await batches.rowsFrom(batch._id, 0, batch.total);
    const ids = items.map(({ index }) => itemExecutionId(batch._id, index));
    const [views, saved] = await Promise.all([runs.testedOf(ids), savedBy(ids)]);
    const byId = new Map(views.map((view) => [view._id, view]));
    const results = new Map(await Promise.all(views.map(async (view) => [view._id, await resultOf(view)] as const)));
    const files = await filesIn([...results.values()], batch.userId);
    return items.flatMap((item): Read[] => {
      const test = tests[item.index];
      if (!test) return [];
      const executionId = itemExecutionId(batch._id, item.index);
      const view = byId.get(executionId);
      const run = {
        status: statusOfRow(batch, item),
        error: item.error ?? null,
        result: results.get(executionId),
        millicredits: view ? priceOf(view, saved.get(executionId) ?? 0) : 0,
        durationMs: view?.durationMs ?? null,
        fileAt: (url: string) => files.get(url),
      };
      return [{ test, executionId, run, charged: item.millicredits ?? 0 }];
    });
  };

  const judge = async (batch: BatchRecord): Promise<JudgedTest[]> =>
    (await read(batch)).map((one) => ({ ...one, failures: judgeTest(one.test, one.run) }));

  /** Reports the test outcome of a published version to the workflow service. */
  const note = async ({ userId, version, test }: BatchRecord, isPass: boolean): Promise<void> => {
    if (!test || test.of !== undefined || !(Number(version) > 0)) return;
    const noted = { slug: test.slug, ownerId: userId, version: Number(version), digest: isPass ? test.digest : "" };
    await workflows.notePassedTests(noted).catch((error: unknown) => {
      // The workflow was deleted.
      if (!(error instanceof DomainError) || error.kind !== "not_found") throw error;
    });
  };

  return {
    judge,

    /** Judges a batch in which no run is left. Idempotent. @returns undefined if the batch doesn't run tests */
    atEnd: async (batch: BatchRecord): Promise<TestOutcome[] | undefined> => {
      if (!batch.test) return undefined;
      const judged = await judge(batch);
      const isPass = judged.length > 0 && judged.every(isPassed);
      if (endOf(batch) === "completed") await note(batch, isPass);
      return judged.map(outcomeOf);
    },
  };
};

/** Compares two runs of a test. Returns undefined if either run has no result. */
export const differencesOf = ({ run }: JudgedTest, before: JudgedTest): ResultDifference[] | undefined =>
  isRecord(run.result) && isRecord(before.run.result) ? resultDifferences(run.result, before.run.result) : undefined;
