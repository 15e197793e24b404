import { openDocument, type OpenDocument } from "../../src/document/document";
import { setData } from "../../src/document/edit";
import { nodeById } from "../../src/document/graph";
import { createService, manualTimers, memoryDrafts } from "../support/service";

const NODES = '[{"id":"a","type":"text-box","data":{"text":"first"}}]';
const TICKS = 20;
const settle = async (): Promise<void> => {
  for (let tick = 0; tick < TICKS; tick += 1) await Promise.resolve();
};
const write = (open: OpenDocument, text: string): void => open.change("Edit", (graph) => setData(graph, "a", ["text"], text));
const textOf = (open: OpenDocument): unknown => nodeById(open.store.getState().graph, "a")?.data.text;

describe("a draft in the browser", () => {
  const setUp = () => {
    const [service, timers, drafts] = [createService(NODES), manualTimers(), memoryDrafts()];
    const open = (own = drafts): Promise<OpenDocument> =>
      openDocument({ loaded: service.load(), remote: service.connect({ cut: "none" }), drafts: own, timers, mayWrite: () => true });
    return { service, timers, drafts, open };
  };

  it("is deleted as soon as its content is saved, not a moment later", async () => {
    const { drafts, timers, open } = setUp();
    const tab = await open();
    write(tab, "second");
    timers.runAll();
    await settle();
    write(tab, "third");
    await tab.flush();
    await settle();
    expect(drafts.left()).toBeUndefined();
  });

  it("that a reload left behind after it was saved is no change of its own later", async () => {
    const { drafts, open } = setUp();
    const before = await open(memoryDrafts());
    const { graph: first } = before.store.getState();
    write(before, "second");
    await before.flush();
    const second = before.store.getState().graph;
    const texts = (graph: typeof first) => ({ nodes: `[${graph.nodes.map(({ text }) => text).join(",")}]`, edges: "[]" });
    await drafts.put({ etag: '"1"', base: texts(first), mine: texts(second), meta: {}, savedAt: 0 });
    before.close();
    (await open()).close();
    await settle();
    const other = await open(memoryDrafts());
    write(other, "third");
    await other.flush();
    other.close();
    const later = await open();
    expect([textOf(later), later.store.getState().conflicts]).toEqual(["third", []]);
  });
});
