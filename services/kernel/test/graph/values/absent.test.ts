import fc from "fast-check";
import {
  ABSENT,
  bindItems,
  buildResult,
  callInputs,
  collect,
  createBudget,
  evaluateStep,
  inPlaces,
  isAbsent,
  knownSource,
  withoutAbsent,
} from "@nodeloom/kernel";

const nothing = (): undefined => undefined;
const bind = (sources: Record<string, unknown>, listPorts: string[] = []) =>
  bindItems(
    { sources: Object.fromEntries(Object.entries(sources).map(([port, value]) => [port, [knownSource(value)]])), listPorts },
    nothing,
  );

/** A node that runs once per item and returns its inputs. */
const run = (sources: Record<string, unknown>, isFailing: (item: Record<string, unknown>) => boolean = () => false): unknown => {
  const bound = bind(sources);
  const values = bound.items.map((item) => (isFailing(item) ? ABSENT : Object.values(item).join("+")));
  return collect(inPlaces(values, bound), bound.mapped);
};

it("pairs remaining items with the items at the same positions of another list, across nodes", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 11 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 11 })),
      (first, second) => {
        const names = Array.from({ length: 12 }, (_, index) => `i${index}`);
        const fails = (places: number[]) => (item: Record<string, unknown>) =>
          places.some(
            (place) =>
              String(Object.values(item)[0]).startsWith(`i${place}`) && String(Object.values(item)[0]).split("+")[0] === `i${place}`,
          );
        const thrown = run({ value: names }, fails(first));
        const paired = run({ value: thrown, other: names.map((name) => `${name}!`) }, fails(second));
        const out = new Set([...first, ...second]);
        expect(paired).toEqual(names.map((name, index) => (out.has(index) ? ABSENT : `${name}+${name}!`)));
        expect(withoutAbsent(paired)).toHaveLength(12 - out.size);
      },
    ),
  );
});

it("keeps as many positions as a failed item would have filled", () => {
  expect(collect([["a", "b"], ABSENT, ["c", "d"]], true)).toEqual(["a", "b", ABSENT, ABSENT, "c", "d"]);
  expect(collect([["a", "b"], ABSENT, ["c"]], true)).toEqual(["a", "b", ABSENT, "c"]);
});

const items = ["a", ABSENT, "c"];

it("takes a list as a whole without them: as text, as an input, as JSON, as a result", () => {
  const step = { literals: {}, textPorts: ["text"], listPorts: ["all", "text"], inputNames: ["all", "text"] };
  expect(callInputs(step, { all: items, text: items })).toEqual({ all: ["a", "c"], text: "a\n\nc" });
  expect(evaluateStep({ type: "json", literals: {} }, { value: items }, createBudget())).toEqual(["a", "c"]);
  const result = buildResult({ text: [{ value: items }], images: [{ value: items }], all: [{ value: items }] }, nothing);
  expect(result).toEqual({ text: "a\n\nc", images: [{ url: "a" }, { url: "c" }], all: ["a", "c"] });
});

it("keeps positions in a list and after a switch", () => {
  expect(evaluateStep({ type: "list", literals: { items: ["0"] } }, { items }, createBudget())).toEqual(["0", ...items]);
  const passed = evaluateStep({ type: "switch", literals: { cases: [] } }, { value: items }, createBudget()) as unknown[];
  expect(passed.map(isAbsent)).toEqual([false, true, false]);
});
