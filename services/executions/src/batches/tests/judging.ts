/** Judges the items of a test batch from their runs and measurements. */
import {
  checkTest,
  DomainError,
  isRecord,
  needsMeasurements,
  resultDifferences,
  type ResultDifference,
  type TestCheck,
  type TestFailure,
} from "@nodeloom/kernel";
import type { Workflows } from "../../clients";
import { endOf, type BatchRecord } from "../../run/batch";
import type { TestOutcome } from "../../run/batch-tests";
import type { ReadTested, TestedItem } from "./reading";

export interface JudgedTest extends TestedItem {
  checks: TestCheck[];
  failures: TestFailure[];
  /** True if the run has ended and its measurements haven't. */
  isMeasuring: boolean;
}

export interface JudgingOptions {
  readTested: ReadTested;
  workflows: Pick<Workflows, "notePassedTests">;
}

const isPassed = ({ failures }: JudgedTest): boolean => failures.length === 0;

export const outcomeOf = (judged: JudgedTest): TestOutcome => {
  const { run, row } = judged;
  const measuring = row.measured?.millicredits ?? 0;
  return {
    ...{ passed: isPassed(judged), millicredits: run.millicredits, durationMs: run.durationMs },
    ...(measuring === 0 ? {} : { measuring }),
  };
};

const judged = (item: TestedItem): JudgedTest => {
  const { test, run, row } = item;
  const checks = checkTest(test, run);
  return {
    ...item,
    ...{ checks, failures: checks.flatMap(({ failure }) => failure ?? []) },
    isMeasuring: run.status === "completed" && row.isErased !== true && needsMeasurements(test) && row.measured?.isOver !== true,
  };
};

export type Judging = ReturnType<typeof createJudging>;

export const createJudging = ({ readTested, workflows }: JudgingOptions) => {
  const judge = async (batch: BatchRecord): Promise<JudgedTest[]> => (await readTested(batch)).map(judged);

  /** Reports the test outcome of a published version to the workflow service. */
  const note = async ({ userId, version, test }: BatchRecord, isPass: boolean): Promise<void> => {
    if (!test || test.of !== undefined || test.digest === "" || !(Number(version) > 0)) return;
    const noted = { slug: test.slug, ownerId: userId, version: Number(version), digest: isPass ? test.digest : "" };
    await workflows.notePassedTests(noted).catch((error: unknown) => {
      // The workflow was deleted.
      if (!(error instanceof DomainError) || error.kind !== "not_found") throw error;
    });
  };

  return {
    judge,

    /** Judges a batch in which no run and no measurement is left. Idempotent. @returns undefined if the batch doesn't run tests */
    atEnd: async (batch: BatchRecord): Promise<TestOutcome[] | undefined> => {
      if (!batch.test) return undefined;
      const tests = await judge(batch);
      const isPass = tests.length > 0 && tests.every(isPassed);
      if (endOf(batch) === "completed") await note(batch, isPass);
      return tests.map(outcomeOf);
    },
  };
};

/** Compares two runs of a test. Returns undefined if either run has no result. */
export const differencesOf = ({ run }: JudgedTest, before: JudgedTest): ResultDifference[] | undefined =>
  isRecord(run.result) && isRecord(before.run.result) ? resultDifferences(run.result, before.run.result) : undefined;
