import { checkSetModels, withSettings as overlay } from "../../src/plan/settings";

const withSettings = (graphToChange: typeof graph, settingsJson: string, isForeign: boolean, capabilities = ["workflow:write"]) =>
  overlay(graphToChange, settingsJson, { isForeign, capabilities });

const graph = {
  key: "flow@1",
  nodesJson: '[{"id":"pic","type":"x","data":{"model":"a","inputs":{"prompt":"p","n":1.0}}},{"id":"box","type":"y","data":{"text":"t"}}]',
  edgesJson: "[]",
};

it("replaces settings of the named nodes, each member of inputs separately", () => {
  const changed = withSettings(graph, '{"pic":{"model":"b","inputs":{"seed":7}},"box":{"text":"u"}}', false);
  expect(changed.nodesJson).toBe(
    '[{"id":"pic","type":"x","data":{"model":"b","inputs":{"prompt":"p","n":1.0,"seed":7}}},{"id":"box","type":"y","data":{"text":"u"}}]',
  );
  // Planners cache graphs by key.
  expect(changed.key).not.toBe(graph.key);
  expect(withSettings(graph, '{"pic":{"model":"c"}}', false).key).not.toBe(changed.key);
});

it("rejects missing nodes, and graphs of other users", () => {
  expect(() => withSettings(graph, '{"pics":{}}', false)).toThrow(expect.objectContaining({ reason: "INVALID_INPUTS" }));
  expect(() => withSettings(graph, '{"pic":{}}', true)).toThrow(expect.objectContaining({ reason: "INVALID_REQUEST" }));
});

it("changes no node that sends secrets, and lets no node send one", () => {
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

it.each(["workflow", "loop"])("lets no %s node use another workflow, which a key for only this one couldn't run", (type) => {
  const node = (data: object) => ({ ...graph, nodesJson: JSON.stringify([{ id: "part", type, data }]) });
  const part = node({ slug: "intro", inputs: { topic: "sea" } });
  for (const settings of [{ slug: "payroll" }, { version: "draft" }])
    expect(() => withSettings(part, JSON.stringify({ part: settings }), false)).toThrow(
      expect.objectContaining({ reason: "INVALID_INPUTS" }),
    );
  expect(() => withSettings(node({ slug: "intro", bypass: true }), '{"part":{"bypass":false}}', false)).toThrow();
  expect(withSettings(part, '{"part":{"inputs":{"topic":"land"}}}', false).nodesJson).toContain("land");
});

describe("a caller who can run a graph, but not change it", () => {
  const RUNS = ["workflow:run"];
  const node = (type: string, data: object) => ({ ...graph, nodesJson: JSON.stringify([{ id: "a", type, data }]) });
  const picture = node("generate-image", { model: "x", inputs: { prompt: "p" } });
  const web = node("http-request", { url: "https://x.test/a", headers: { authorization: "Bearer literal" } });

  it.each<[string, ReturnType<typeof node>, object]>([
    ["url", web, { url: "https://evil.test" }],
    ["method", web, { method: "POST" }],
    ["headers", web, { headers: {} }],
    ["model", web, { model: "x" }],
    ["bypass", picture, { bypass: true }],
    ["fallback", picture, { fallback: ["y"] }],
    ["maxItems", picture, { maxItems: 1000 }],
    ["onItemError", picture, { onItemError: "skip" }],
    ["inputs", picture, { inputs: "none" }],
    ["model", picture, { model: null }],
    ["prompt", node("llm-assistant", { model: "x", prompt: "p" }), { prompt: "q" }],
    ["text", node("text-box", { text: "t" }), { text: "u" }],
    ["inputs", node("workflow", { slug: "intro" }), { inputs: { topic: "sea" } }],
    ["operation", node("media", { operation: "image-resize" }), { operation: "image-crop" }],
    ["inputs", node("no-such-kind", {}), { inputs: {} }],
  ])("can't set %s of a node (%#)", (name, graphToChange, settings) => {
    expect(() => withSettings(graphToChange, JSON.stringify({ a: settings }), false, RUNS)).toThrow(
      expect.objectContaining({
        reason: "CAPABILITY_DENIED",
        metadata: { required: "workflow:write" },
        message: expect.stringContaining(`settings.a.${name}`) as string,
      }),
    );
    expect(withSettings(graphToChange, JSON.stringify({ a: settings }), false)).toBeDefined();
  });

  it("can set inputs of a generator, and a model within its capabilities", () => {
    const settings = JSON.stringify({ a: { model: "y", inputs: { seed: 7 } } });
    const ownName = (_id: string, name: string) => name;
    expect(withSettings(picture, settings, false, RUNS).nodesJson).toContain('"seed":7');
    for (const capabilities of [["model:run"], ["model:y:run"], ["*"], ["workflow:write"]])
      expect(() => checkSetModels(settings, [...RUNS, ...capabilities], ownName)).not.toThrow();
    for (const capabilities of [[], ["model:x:run"]])
      expect(() => checkSetModels(settings, [...RUNS, ...capabilities], ownName)).toThrow(
        expect.objectContaining({ reason: "CAPABILITY_DENIED", metadata: { required: "model:y:run" } }),
      );
  });

  it("needs the capability of the model chosen for a task", () => {
    const settings = '{"a":{"model":"auto:image"}}';
    const chosen = (id: string, name: string) => (id === "a" && name === "auto:image" ? "y" : name);
    expect(() => checkSetModels(settings, ["workflow:run", "model:x:run"], chosen)).toThrow(
      expect.objectContaining({ metadata: { required: "model:y:run" } }),
    );
    expect(() => checkSetModels(settings, ["workflow:run", "model:y:run"], chosen)).not.toThrow();
  });
});
