import type { StepDependencies } from "../../src/workflow/step";

const nothing = (): Promise<void> => Promise.resolve();

/** Where steps note their progress, for tests that don't look at it. */
export const UNNOTED: StepDependencies["execution"] = {
  nodeStarted: nothing,
  nodeFailed: nothing,
  itemCompleted: nothing,
  itemFailed: nothing,
  fellBack: nothing,
};
