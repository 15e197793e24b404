/** Measurements that a test needs besides its result: of files, of the text in pictures, and by judges. */
import { BindError, createBudget } from "../graph/budget";
import { mediaFamily } from "../graph/values/media";
import { judgeQuestions, type JudgeQuestion } from "./judge-questions";
import { COMPLETED, fileKey, isUncompared, problemKey, textKey, voteKey, type Measurement, type TestedRun } from "./tested-run";
import { TEST_BOUNDS, type Expectation, type FileExpectation, type WorkflowTest } from "./types";
import { addressIn, listed, valueAt } from "./values";

/** A measurement to make. `key` is unique in a test, and its result is stored under it. */
export type MeasurementTask = { key: string } & (
  | { type: "file"; url: string; loudness: boolean; golden?: string }
  | { type: "text"; url: string }
  | { type: "vote"; question: JudgeQuestion; place: number; index: number }
  | { type: "known"; measurement: Measurement }
);

const fileTasks = (
  index: number,
  { loudness, similarTo, text }: FileExpectation,
  value: unknown,
  { fileAt }: TestedRun,
): MeasurementTask[] => {
  if (loudness === undefined && !similarTo && !text) return [];
  const files = listed(value);
  if (files.length > TEST_BOUNDS.files)
    return [
      {
        key: problemKey(index),
        type: "known",
        measurement: { problem: `the value has ${files.length} files, and at most ${TEST_BOUNDS.files} are measured` },
      },
    ];
  return files.flatMap((file, place): MeasurementTask[] => {
    const url = addressIn(file);
    const stored = url === undefined ? undefined : fileAt(url);
    if (url === undefined || !stored) return [];
    const isPicture = mediaFamily(stored.contentType) === "image";
    const read: MeasurementTask = isPicture
      ? { key: textKey(index, place), type: "text", url }
      : {
          key: textKey(index, place),
          type: "known",
          measurement: { problem: `text is read in pictures, and this file is ${stored.contentType}` },
        };
    const isMeasured = loudness !== undefined || similarTo !== undefined;
    const golden = similarTo ? { golden: similarTo.file } : {};
    return [
      ...(isMeasured ? [{ key: fileKey(index, place), type: "file" as const, url, loudness: loudness !== undefined, ...golden }] : []),
      ...(text ? [read] : []),
    ];
  });
};

/** True if runs of a test need measurements besides their results. */
export const needsMeasurements = ({ expect }: WorkflowTest): boolean =>
  expect.some(({ file, judge }) => judge !== undefined || (file && (file.loudness ?? file.similarTo ?? file.text) !== undefined));

/**
 * Returns the measurements that a test's run needs. Equal runs need equal ones.
 * @param golden the same test on the version to compare with; undefined if there is none
 */
export const measurementTasks = ({ inputs, expect }: WorkflowTest, run: TestedRun, golden: TestedRun | undefined): MeasurementTask[] => {
  if (run.status !== COMPLETED) return [];
  const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: TEST_BOUNDS.work });
  const goldenAt = (expectation: Expectation) =>
    golden?.status === COMPLETED ? { value: valueAt(expectation, golden.result, budget) } : undefined;
  const fileAt = (url: string) => run.fileAt(url) ?? golden?.fileAt(url);
  const tasksOf = (expectation: Expectation, index: number): MeasurementTask[] => {
    const { file, judge } = expectation;
    if (file) return fileTasks(index, file, valueAt(expectation, run.result, budget), run);
    if (!judge || isUncompared(expectation, run)) return [];
    const judged = { inputs, value: valueAt(expectation, run.result, budget), golden: judge.against && goldenAt(expectation), fileAt };
    const questions = judgeQuestions(judge, judged);
    if (typeof questions === "string") return [{ key: problemKey(index), type: "known", measurement: { problem: questions } }];
    if (!Array.isArray(questions)) return [{ key: voteKey(index, 0), type: "known", measurement: { vote: questions } }];
    return questions.map((question, place) => ({ key: voteKey(index, place), type: "vote", question, place, index }));
  };
  return expect.flatMap((expectation, index) => {
    try {
      return tasksOf(expectation, index);
    } catch (error) {
      // The expectation fails with this error.
      if (error instanceof BindError) return [];
      throw error;
    }
  });
};
