export * from "./differences";
export { checkTest, judgeTest, type TestCheck, type TestFailure } from "./judge";
export { judgedVersion } from "./judge-problems";
export { readVote, type JudgeQuestion } from "./judge-questions";
export { measurementTasks, needsMeasurements, type MeasurementTask } from "./measurements";
export * from "./problems";
export type { Measurement, Measurements, TestedFile, TestedRun } from "./tested-run";
export * from "./types";
