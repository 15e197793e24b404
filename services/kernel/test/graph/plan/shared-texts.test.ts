import { knownSource, shareTexts, withSharedTexts, type PlanStep, type RunPlan } from "../../../src/graph";

const LONG = "a long text ".repeat(100);
const MARK = "\u0000shared:";

const step = (id: string, more: Partial<PlanStep>): PlanStep => ({
  ...{ id, type: "text-box", literals: {}, sources: {}, listPorts: [], textPorts: [], inputNames: [], maxItems: 1, maxMillicredits: 0 },
  ...more,
});
const planOf = (steps: PlanStep[], output: RunPlan["output"] = {}): RunPlan => ({
  ...{
    steps,
    output,
    evaluated: [],
    warnings: {},
    models: {},
    outputNodes: [],
    used: { valueBytes: 0, calls: 0, work: 0 },
    markupPermille: 1_000,
  },
});
const travelled = (plan: RunPlan): RunPlan => JSON.parse(JSON.stringify(shareTexts(plan))) as RunPlan;

describe("a plan with repeated long texts", () => {
  const readers = Array.from({ length: 50 }, (_, index) =>
    step(`n${index}`, { literals: { text: "{{a}} {{b}}" }, sources: { a: [{ value: LONG }], b: [{ node: "x", port: "text" }] } }),
  );
  const plan = planOf(readers, { text: [{ value: [LONG, { deep: { deeper: LONG } }, null] }] });

  it("has each of them once when it is sent", () => {
    const times = (text: string): number => text.split(LONG).length - 1;
    expect(times(JSON.stringify(plan))).toBe(52);
    expect(times(JSON.stringify(travelled(plan)))).toBe(1);
  });

  it("is restored on arrival and from storage", () => {
    expect(withSharedTexts(travelled(plan))).toEqual(plan);
    expect(plan).not.toHaveProperty("shared");
  });
});

it.each([
  ["texts like those that stand for others", [`${MARK}0`, `${MARK}=`, `${MARK}=${MARK}1`, MARK, "\u0000"]],
  ["such texts, long and often", [`${MARK}${LONG}`, `${MARK}${LONG}`, LONG, LONG, `${MARK}0`]],
  ["members of any name", [{ ["__proto__"]: LONG, constructor: LONG, "": [LONG] }, JSON.parse(`{"__proto__":{"a":"${LONG}"}}`)]],
  ["everything except text", [null, true, 0, [], {}, [[[]]], 1.5]],
])("a plan with %s arrives unchanged", (_name, values: unknown[]) => {
  const plan = planOf(
    values.map((value, index) => step(`n${index}`, { literals: { value }, sources: { in: [knownSource(value)] } })),
    { out: [{ value: values }] },
  );
  const arrived = withSharedTexts(travelled(plan));
  // Compared as JSON, which distinguishes members named __proto__ from prototypes.
  expect(JSON.stringify(arrived.steps) === JSON.stringify(plan.steps)).toBe(true);
  expect(JSON.stringify(arrived.output) === JSON.stringify(plan.output)).toBe(true);
  expect(arrived).not.toHaveProperty("shared");
});

it("a plan without repeated long texts is sent unchanged", () => {
  const plan = planOf([
    step("a", { sources: { in: [{ value: LONG }] } }),
    step("b", { literals: { text: "short" } }),
    step("c", { literals: { text: "short" } }),
  ]);
  expect(shareTexts(plan)).toBe(plan);
  expect(withSharedTexts(plan)).toBe(plan);
});
