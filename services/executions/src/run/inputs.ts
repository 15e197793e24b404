/** What the calls of a run are made with, counted within the run's bounds. */
import { callInputs, createBudget, httpCall, type BudgetUse, type HttpCall, type PlanStep, type RunBudget } from "@nodeloom/kernel/graph";

type Item = Readonly<Record<string, unknown>>;

/**
 * @param used what planning used of the bounds
 * @param bounds what all of the run may use at most, planning included; by default a run's bounds
 */
export const createInputs = (used: Readonly<BudgetUse>, bounds?: Readonly<BudgetUse>) => {
  const budget = createBudget(used, bounds);
  let counting: RunBudget = budget;
  return {
    /** What all that the run makes is counted by. */
    budget,

    /** The inputs of one call of a model or an operation, counted. @throws BindError */
    ofCall: (step: Parameters<typeof callInputs>[0], item: Item): Record<string, unknown> => {
      counting.calls(1);
      return callInputs(step, item, counting);
    },

    /** One request of an http-request step, counted. @throws BindError */
    ofRequest: (step: PlanStep, item: Item): HttpCall => {
      counting.calls(1);
      return httpCall(step, item, counting);
    },

    /** Makes inputs of calls that may not be made: those that are, are counted when they are. @throws BindError */
    uncounted: <T>(make: () => T): T => {
      counting = createBudget(used, bounds);
      try {
        return make();
      } finally {
        counting = budget;
      }
    },
  };
};
