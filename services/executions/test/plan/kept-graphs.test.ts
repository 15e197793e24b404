import { createKeepGraph, type KeptGraph } from "../../src/plan/kept-graphs";

it("stores the models of a version's tasks separately from the draft that it was published from, and each once per user", async () => {
  const texts: string[] = [];
  const keep = createKeepGraph({
    putShared: (json) => {
      texts.push(json);
      return Promise.resolve({ hash: String(texts.length) });
    },
  });
  const draft: KeptGraph = { nodesJson: "[]", edgesJson: "[]", pinnedModels: {} };
  const version: KeptGraph = { ...draft, pinnedModels: { "auto:text": "chat" } };
  const keptGraphs = [await keep("flow@7", draft, "u"), await keep("flow@7", version, "u"), await keep("flow@7", { ...version }, "u")];
  expect(keptGraphs).toEqual([{ hash: "1" }, { hash: "2" }, { hash: "2" }]);
  expect(await keep("flow@7", draft, "another user")).toEqual({ hash: "3" });
  expect(texts.map((json) => (JSON.parse(json) as KeptGraph).pinnedModels)).toEqual([{}, { "auto:text": "chat" }, {}]);
});
