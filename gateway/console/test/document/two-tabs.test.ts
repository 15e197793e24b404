import fc from "fast-check";
import { openDocument, type OpenDocument } from "../../src/document/document";
import { addNode, connect, moveNodes, removeItems, setData } from "../../src/document/edit";
import { edgesOf, nodeById, readDocGraph } from "../../src/document/graph";
import { createService, manualTimers, memoryDrafts, type Line } from "../support/service";

interface Tab {
  name: string;
  line: Line;
  timers: ReturnType<typeof manualTimers>;
  drafts: ReturnType<typeof memoryDrafts>;
  open: OpenDocument;
  reopen(): Promise<void>;
}

const TICKS = 8;
const settle = async (): Promise<void> => {
  for (let tick = 0; tick < TICKS; tick += 1) await Promise.resolve();
};

const openTab = async (service: ReturnType<typeof createService>, name: string): Promise<Tab> => {
  const line: Line = { cut: "none" };
  const [timers, drafts] = [manualTimers(), memoryDrafts()];
  const open = (): Promise<OpenDocument> =>
    openDocument({ loaded: service.load(), remote: service.connect(line), drafts, timers, mayWrite: () => true });
  const tab: Tab = {
    name,
    line,
    timers,
    drafts,
    open: await open(),
    reopen: async () => {
      tab.open.close();
      tab.open = await open();
    },
  };
  return tab;
};

const ids = ["a", "b", "c", "d"] as const;
const edit = fc.record({
  tab: fc.constantFrom(0, 1),
  kind: fc.constantFrom("set", "set", "set", "move", "add", "connect", "same"),
  node: fc.constantFrom(...ids),
  other: fc.constantFrom(...ids),
  cut: fc.constantFrom("none", "none", "none", "before", "after"),
  sync: fc.boolean(),
  crash: fc.nat({ max: 60 }).map((chance) => chance === 0),
});
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

/**
 * Makes one edit that differs from every other.
 * @returns its expected result
 */
const apply = ({ open, name }: Tab, { kind, node, other }: Edit, serial: number): ((tabs: readonly Tab[]) => void) | undefined => {
  const mark = `${name}${serial}`;
  const setMark = (id: string): void => open.change("Set", (graph) => setData(graph, id, [mark], serial));
  const hasMark = (id: string) => (tabs: readonly Tab[]) =>
    expect(nodeById(tabs[0]!.open.store.getState().graph, id)?.data[mark]).toBe(serial);
  const id = nodeById(open.store.getState().graph, node) ? node : undefined;
  if (kind === "move") open.change("Move", (graph) => moveNodes(graph, new Map([[node, { x: serial, y: serial }]])));
  else if (kind === "same" && id !== undefined) open.change("Edit", (graph) => setData(graph, id, ["text"], mark));
  else if (kind === "connect")
    open.change("Connect", (graph) =>
      nodeById(graph, node) && nodeById(graph, other)
        ? connect(graph, { source: node, target: other, sourceHandle: mark, targetHandle: mark })
        : graph,
    );
  else if (kind === "add") {
    open.change("Add", (graph) => addNode(graph, { id: mark, type: "note", at: { x: 0, y: 0 }, data: {} }));
    return (tabs) => expect(nodeById(tabs[0]!.open.store.getState().graph, mark)).toBeDefined();
  } else if (id !== undefined) {
    setMark(id);
    return hasMark(id);
  }
  return undefined;
};

const step = async (tab: Tab, { cut, sync, crash }: Edit): Promise<void> => {
  if (crash) {
    // The draft is written a moment after a change. The crash comes later.
    tab.timers.runAll();
    await settle();
    await tab.reopen();
  }
  tab.line.cut = cut;
  if (sync) {
    tab.timers.runAll();
    await settle();
  }
  if (tab.open.store.getState().conflicts.length > 0) tab.open.resolve([]);
  await settle();
};

describe("two tabs on one workflow", () => {
  it("lose none of a thousand random edits, whatever fails and whichever tab crashes", async () => {
    const nodes = `[${ids.map((id) => `{"id":"${id}","type":"text-box","position":{"x":0,"y":0},"data":{"text":"","kept":1.0}}`).join(",")}]`;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 2_000, maxLength: 2_000, size: "max" }), async (edits) => {
        const service = createService(nodes);
        const tabs = [await openTab(service, "left"), await openTab(service, "right")];
        const expectations: ((tabs: readonly Tab[]) => void)[] = [];
        for (const [serial, one] of edits.entries()) {
          const expectation = apply(tabs[one.tab]!, one, serial);
          if (expectation) expectations.push(expectation);
          await step(tabs[one.tab]!, one);
        }
        for (let round = 0; round < 6; round += 1)
          for (const tab of tabs) {
            tab.line.cut = "none";
            tab.open.retry();
            await tab.open.flush();
            if (tab.open.store.getState().conflicts.length > 0) tab.open.resolve([]);
            await tab.open.flush();
            await tab.open.refresh();
          }
        for (const tab of tabs) expect(tab.open.store.getState().write.kind).toBe("saved");
        const texts = service.texts();
        expect(tabs[0]!.open.store.getState().graph.nodes.map(({ text }) => text)).toEqual(
          readDocGraph(texts.nodes, texts.edges).nodes.map(({ text }) => text),
        );
        for (const expectation of expectations) expectation(tabs);
        expect(texts.nodes).toContain('"kept":1.0');
        for (const tab of tabs) tab.open.close();
      }),
      { numRuns: 1 },
    );
  });

  it("keeps a node that one removed while the other edited it, and its edges", async () => {
    const service = createService('[{"id":"a","type":"note","data":{}},{"id":"b","type":"note","data":{}}]');
    const [left, right] = [await openTab(service, "left"), await openTab(service, "right")];
    left.open.change("Remove", (graph) => removeItems(graph, ["a"], []));
    right.open.change("Edit", (graph) => setData(graph, "a", ["text"], "precious"));
    right.open.change("Connect", (graph) => connect(graph, { source: "a", target: "b", sourceHandle: "x", targetHandle: "y" }));
    await left.open.flush();
    await right.open.flush();
    const { graph } = right.open.store.getState();
    expect(nodeById(graph, "a")?.data.text).toBe("precious");
    expect(edgesOf(graph)).toHaveLength(1);
    expect(service.texts().nodes).toContain("precious");
  });

  it("asks if both set one setting to different values, and writes nothing before the user chooses", async () => {
    const service = createService('[{"id":"a","type":"text-box","data":{"text":"old"}}]');
    const [left, right] = [await openTab(service, "left"), await openTab(service, "right")];
    left.open.change("Edit", (graph) => setData(graph, "a", ["text"], "left"));
    right.open.change("Edit", (graph) => setData(graph, "a", ["text"], "right"));
    await left.open.flush();
    expect(await right.open.flush()).toBe(false);
    const { conflicts, write } = right.open.store.getState();
    expect(write.kind).toBe("conflict");
    expect(conflicts).toEqual([{ nodeId: "a", path: ["data", "text"], mine: '"right"', theirs: '"left"' }]);
    expect(service.texts().nodes).toContain('"left"');
    right.open.resolve(conflicts);
    await right.open.flush();
    expect(nodeById(right.open.store.getState().graph, "a")?.data.text).toBe("left");
    expect(right.open.undo()).toBe("Use the other version");
    await right.open.flush();
    expect(service.texts().nodes).toContain('"right"');
  });

  it("never takes back what came from elsewhere when something here is undone", async () => {
    const service = createService('[{"id":"a","type":"text-box","data":{"text":"old"}}]');
    const [left, right] = [await openTab(service, "left"), await openTab(service, "right")];
    right.open.change("Edit", (graph) => setData(graph, "a", ["mine"], 1));
    left.open.change("Add", (graph) => addNode(graph, { id: "theirs", type: "note", at: { x: 0, y: 0 }, data: {} }));
    await left.open.flush();
    await right.open.flush();
    right.open.undo();
    const { graph } = right.open.store.getState();
    expect(nodeById(graph, "theirs")).toBeDefined();
    expect(nodeById(graph, "a")?.data.mine).toBeUndefined();
  });

  it("opens with a crashed tab's unsaved changes", async () => {
    const service = createService('[{"id":"a","type":"text-box","data":{"text":"old"}}]');
    const tab = await openTab(service, "left");
    tab.line.cut = "before";
    tab.open.change("Edit", (graph) => setData(graph, "a", ["text"], "unsaved"));
    tab.timers.runAll();
    await settle();
    await tab.reopen();
    expect(tab.open.store.getState().recovered).toBe(true);
    expect(nodeById(tab.open.store.getState().graph, "a")?.data.text).toBe("unsaved");
    tab.line.cut = "none";
    await tab.open.flush();
    expect(service.texts().nodes).toContain("unsaved");
    tab.timers.runAll();
    await settle();
    expect(tab.drafts.left()).toBeUndefined();
  });
});
