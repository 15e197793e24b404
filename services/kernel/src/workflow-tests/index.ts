export * from "./differences";
export { judgeTest, type TestedFile, type TestedRun, type TestFailure } from "./judge";
export * from "./problems";
export * from "./types";
