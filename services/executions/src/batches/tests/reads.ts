/** Reads test runs with their results. */
import { LIMITS, type WorkflowTest } from "@nodeloom/kernel";
import { fromCursor, toCursor } from "@nodeloom/platform";
import { batches as proto } from "@nodeloom/proto";
import { FINAL_BATCHES, type BatchRecord } from "../../run/batch";
import type { TestOutcome } from "../../run/batch-tests";
import type { Stores } from "../../record/stores";
import { batchNotFound, createOwned } from "../owned";
import { batchMessage } from "../view";
import { differencesOf, outcomeOf, type JudgedTest, type Judging } from "./judging";

export interface TestReadsOptions {
  stores: Pick<Stores, "batches">;
  judging: Pick<Judging, "judge">;
}

const UNENDED: ReadonlySet<string> = new Set(["waiting", "processing"]);

const statusOf = ({ status, total, test }: BatchRecord): string => {
  if (!FINAL_BATCHES.includes(status)) return status === "paused" ? "paused" : "running";
  if (status === "cancelled") return "cancelled";
  const outcomes = test?.outcomes ?? [];
  return outcomes.length === total && outcomes.every(({ passed }) => passed) ? "passed" : "failed";
};

/** An ended run keeps the outcome stored at its end, because its results may have been deleted since. */
const resultMessage = (judged: JudgedTest, outcome: TestOutcome | undefined): proto.TestResult => {
  const { test, executionId, run, row, failures, checks } = judged;
  const isOver = !UNENDED.has(run.status) && (outcome !== undefined || !judged.isMeasuring);
  const { passed, millicredits, durationMs, measuring = 0 } = outcome ?? outcomeOf(judged);
  // The results of an erased run are gone, so it has no checks.
  const isJudged = isOver && passed === (failures.length === 0);
  return proto.TestResult.fromPartial({
    // The charge, which has no calls that the run reused. An erased run has lost its measurements, but not their cost.
    ...{ name: test.name, executionId, millicredits: (row.millicredits ?? 0) + measuring, priceMillicredits: millicredits },
    durationMs: durationMs ?? undefined,
    status: isOver ? (passed ? "passed" : "failed") : UNENDED.has(run.status) ? run.status : "processing",
    failuresJson: isJudged ? JSON.stringify(failures) : "[]",
    checksJson: isJudged ? JSON.stringify(checks.map(({ failure: _, ...check }) => check)) : "[]",
    measuringMillicredits: measuring,
    measuringIds: row.measured?.runs ?? [],
    resultJson: run.result === undefined ? "" : JSON.stringify(run.result),
  });
};

const byName = (judged: readonly JudgedTest[]): Map<WorkflowTest["name"], { judged: JudgedTest; index: number }> =>
  new Map(judged.map((one, index) => [one.test.name, { judged: one, index }]));

export type TestReads = ReturnType<typeof createTestReads>;

export const createTestReads = ({ stores: { batches }, judging }: TestReadsOptions) => {
  const owned = createOwned(batches);

  const comparedWith = async ({ test }: BatchRecord): Promise<BatchRecord | null> =>
    test?.against === undefined ? null : batches.find(test.against);

  const resultsOf = async (batch: BatchRecord, compared: BatchRecord | null): Promise<proto.TestResult[]> => {
    const [now, before] = await Promise.all([judging.judge(batch), compared ? judging.judge(compared) : []]);
    const others = byName(before);
    return now.map((judged, index) => {
      const message = resultMessage(judged, batch.test?.outcomes?.[index]);
      const other = others.get(judged.test.name);
      if (!other) return message;
      const differences = differencesOf(judged, other.judged);
      const against = resultMessage(other.judged, compared?.test?.outcomes?.[other.index]);
      return { ...message, against, differencesJson: differences ? JSON.stringify(differences) : "" };
    });
  };

  const messageOf = (batch: BatchRecord, compared: BatchRecord | null, results: proto.TestResult[] = []): proto.TestRun => {
    const statuses = batch.test?.outcomes?.map((outcome) => (outcome.passed ? "passed" : "failed")) ?? results.map(({ status }) => status);
    const count = (wantedStatus: string): number => statuses.filter((status) => status === wantedStatus).length;
    return proto.TestRun.fromPartial({
      ...{ batch: batchMessage(batch), status: statusOf(batch), passed: count("passed"), failed: count("failed"), results },
      against: compared ? batchMessage(compared) : undefined,
      ...{ settingsJson: batch.test?.settingsJson ?? "", isRecentRuns: batch.test?.isRecentRuns ?? false },
    });
  };

  return {
    list: async ({ userId, slug, limit, cursor }: proto.ListTestRunsRequest): Promise<proto.ListTestRunsResponse> => {
      const size = Math.min(limit || LIMITS.pageDefault, LIMITS.pageRows);
      const records = await batches.testRuns(userId, slug, size + 1, fromCursor(cursor));
      const page = records.slice(0, size);
      const compared = await Promise.all(page.map(comparedWith));
      const last = page.at(-1);
      const nextCursor = records.length > size && last ? toCursor({ at: last.createdAt, id: last._id }) : "";
      return { runs: page.map((batch, index) => messageOf(batch, compared[index]!)), nextCursor };
    },

    /** @throws NOT_FOUND, also if the batch doesn't run tests of this workflow */
    get: async ({ userId, slug, batchId }: proto.GetTestRunRequest): Promise<proto.GetTestRunResponse> => {
      const batch = await owned(batchId, userId);
      if (batch.test?.slug !== slug || batch.test.of !== undefined) throw batchNotFound();
      const compared = await comparedWith(batch);
      return { run: messageOf(batch, compared, await resultsOf(batch, compared)) };
    },
  };
};
