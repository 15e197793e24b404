import { labelOf, readGraph } from "@nodeloom/kernel";

it("rejects graphs that aren't arrays or are too large", () => {
  expect(() => readGraph("{}", "[]")).toThrow(/nodes: must be an array/);
  expect(() => readGraph("[", "[]")).toThrow(/not valid JSON/);
  expect(() => readGraph(JSON.stringify(Array.from({ length: 501 }, (_, id) => ({ id: `${id}`, type: "note" }))), "[]")).toThrow(
    /at most 500/,
  );
});

it("skips and reports a node whose id UTF-8 can't encode", () => {
  const { nodes, issues } = readGraph('[{"id":"a\\ud800","type":"note"},{"id":"\ud83e\uddf5","type":"note"}]', "[]");
  expect(nodes.map(({ id }) => id)).toEqual(["\ud83e\uddf5"]);
  expect(issues).toMatchObject([{ nodeId: null, message: "the id of nodes[0] can't be written in UTF-8" }]);
});

it("skips and reports a node whose id has control characters", () => {
  const { nodes, issues } = readGraph('[{"id":"a\\u001b[2J","type":"note"},{"id":"a\\nb","type":"note"},{"id":"a b","type":"note"}]', "[]");
  expect(nodes.map(({ id }) => id)).toEqual(["a b"]);
  expect(issues.map(({ message }) => message)).toEqual(
    [0, 1].map((index) => `the id of nodes[${index}] must not have line breaks or other control characters`),
  );
  expect(labelOf({ data: { label: "a\u001b[2J\nb" } })).toBe("a [2J b");
});

it("replaces a lone surrogate at the end of a cut label", () => {
  const label = labelOf({ data: { label: `x${"\ud83e\uddf5".repeat(50)}` } });
  expect(label).toBe(`x${"\ud83e\uddf5".repeat(39)}\ufffd`);
});
