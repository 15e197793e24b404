import { counterpart, inRun, replaceInView, step, useViewer, view } from "../../src/media/viewer/store";

const set = (id: string, count: number) => ({
  id,
  title: id,
  items: Array.from({ length: count }, (_, at) => ({ id: `${id}${at}`, file: undefined, text: "x", title: "x", facts: [] })),
});
const sets = [set("new", 3), set("old", 2)];

describe("the viewer's arrows", () => {
  it("go through the items of a run, then on to the run before it, and stay at the ends", () => {
    expect(step({ sets, set: 0, index: 1 }, 1)).toEqual({ set: 0, index: 2 });
    expect(step({ sets, set: 0, index: 2 }, 1)).toEqual({ set: 1, index: 0 });
    expect(step({ sets, set: 1, index: 0 }, -1)).toEqual({ set: 0, index: 2 });
    expect(step({ sets, set: 1, index: 1 }, 1)).toEqual({ set: 1, index: 1 });
    expect(step({ sets, set: 0, index: 0 }, -1)).toEqual({ set: 0, index: 0 });
  });

  it("keep the place when they change the run, as far as it has one", () => {
    expect(inRun({ sets, set: 0, index: 2 }, 1)).toEqual({ set: 1, index: 1 });
    expect(inRun({ sets, set: 0, index: 2 }, -1)).toEqual({ set: 0, index: 2 });
  });

  it("compare with the same place of the run before, else with a neighbour", () => {
    expect(counterpart({ sets, set: 0, index: 1 })).toEqual({ set: 1, index: 1 });
    expect(counterpart({ sets: [sets[0]!], set: 0, index: 2 })).toEqual({ set: 0, index: 0 });
    expect(counterpart({ sets: [set("one", 1)], set: 0, index: 0 })).toEqual({ set: 0, index: 0 });
  });
});

describe("a run that is viewed while it goes on", () => {
  const item = (id: string) => ({ id, file: undefined, text: id, title: id, facts: undefined });
  const run = (...ids: string[]) => ({ id: "run", title: "run", items: ids.map(item) });

  it("keeps the viewed item when others are listed before it", () => {
    view([run("third")]);
    replaceInView(run("first", "second", "third"));
    const { sets, index } = useViewer.getState();
    expect(sets[0]!.items[index]!.id).toBe("third");
  });

  it("keeps items that the loaded state doesn't have yet, so that the stage is never empty", () => {
    view([run("first", "second")], { index: 1 });
    replaceInView(run("first"));
    replaceInView({ ...run(), items: [] });
    const { sets, index } = useViewer.getState();
    expect([sets[0]!.items.length, sets[0]!.items[index]!.id, sets[0]!.items[index]!.facts]).toEqual([2, "second", []]);
  });
});
