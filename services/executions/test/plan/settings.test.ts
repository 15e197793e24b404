import { withSettings } from "../../src/plan/settings";

const graph = {
  key: "flow@1",
  nodesJson: '[{"id":"pic","type":"x","data":{"model":"a","inputs":{"prompt":"p","n":1.0}}},{"id":"box","type":"y","data":{"text":"t"}}]',
  edgesJson: "[]",
};

it("puts settings over those of the nodes that are named, each member of inputs by itself", () => {
  const changed = withSettings(graph, '{"pic":{"model":"b","inputs":{"seed":7}},"box":{"text":"u"}}', false);
  expect(changed.nodesJson).toBe(
    '[{"id":"pic","type":"x","data":{"model":"b","inputs":{"prompt":"p","n":1.0,"seed":7}}},{"id":"box","type":"y","data":{"text":"u"}}]',
  );
  // A planner keeps graphs by their keys.
  expect(changed.key).not.toBe(graph.key);
  expect(withSettings(graph, '{"pic":{"model":"c"}}', false).key).not.toBe(changed.key);
});

it("refuses nodes that there are not, and graphs of others", () => {
  expect(() => withSettings(graph, '{"pics":{}}', false)).toThrow(expect.objectContaining({ reason: "INVALID_INPUTS" }));
  expect(() => withSettings(graph, '{"pic":{}}', true)).toThrow(expect.objectContaining({ reason: "INVALID_REQUEST" }));
});

it("touches no node that sends secrets, and makes none of another", () => {
  const node = (data: object) => ({ ...graph, nodesJson: JSON.stringify([{ id: "web", type: "http-request", data }]) });
  const sending = node({ url: "https://x.test/a", headers: { a: "{{secrets.KEY}}" } });
  const plain = node({ url: "https://x.test/a" });
  for (const [one, settings] of [
    [sending, { url: "https://x.test/refunds" }],
    [sending, { body: { amount: 1 } }],
    [plain, { headers: { a: "{{secrets.KEY}}" } }],
    [plain, { url: "https://x.test/?k={{ secrets.KEY }}" }],
  ] as const)
    expect(() => withSettings(one, JSON.stringify({ web: settings }), false)).toThrow(
      expect.objectContaining({ reason: "INVALID_INPUTS" }),
    );
  expect(withSettings(plain, '{"web":{"url":"https://x.test/b"}}', false).nodesJson).toContain("https://x.test/b");
});

it("lets no node become another workflow, which a key for this one alone could not run", () => {
  const node = (data: object) => ({ ...graph, nodesJson: JSON.stringify([{ id: "part", type: "workflow", data }]) });
  const part = node({ slug: "intro", inputs: { topic: "sea" } });
  for (const settings of [{ slug: "payroll" }, { version: "draft" }])
    expect(() => withSettings(part, JSON.stringify({ part: settings }), false)).toThrow(
      expect.objectContaining({ reason: "INVALID_INPUTS" }),
    );
  expect(() => withSettings(node({ slug: "intro", bypass: true }), '{"part":{"bypass":false}}', false)).toThrow();
  expect(withSettings(part, '{"part":{"inputs":{"topic":"land"}}}', false).nodesJson).toContain("land");
});
