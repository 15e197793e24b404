import type { StepDependencies } from "../../src/workflow/step";

const nothing = (): Promise<void> => Promise.resolve();

/** Methods for tests that don't check progress. */
export const UNNOTED: StepDependencies["execution"] = {
  nodeStarted: nothing,
  nodeFailed: nothing,
  itemCompleted: nothing,
  itemFailed: nothing,
  fellBack: nothing,
};
