import { createInputs } from "../../src/run/values";

const BOUNDS = { calls: 2, valueBytes: 1_000, work: 1_000 };
const UNUSED = { calls: 0, valueBytes: 0, work: 0 };
const STEP = { literals: {}, inputNames: ["prompt"], listPorts: [], textPorts: ["prompt"] };

it("counts calls when they are made, and not when earlier runs are searched for them", () => {
  const inputs = createInputs(UNUSED, BOUNDS);
  const make = (): Record<string, unknown>[] => ["a", "b"].map((prompt) => inputs.ofCall(STEP, { prompt }));
  expect(inputs.uncounted(make)).toEqual([{ prompt: "a" }, { prompt: "b" }]);
  expect(inputs.budget.used).toEqual(UNUSED);
  expect(make()).toEqual([{ prompt: "a" }, { prompt: "b" }]);
  expect(inputs.budget.used.calls).toBe(2);
  expect(() => make()).toThrow("calls");
});

it("counts again after a search with inputs that can't be created", () => {
  const inputs = createInputs(UNUSED, BOUNDS);
  expect(() =>
    inputs.uncounted(() => {
      throw new Error("no input");
    }),
  ).toThrow("no input");
  inputs.ofCall(STEP, { prompt: "a" });
  expect(inputs.budget.used.calls).toBe(1);
});
