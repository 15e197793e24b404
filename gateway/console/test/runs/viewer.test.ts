import { counterpart, inRun, step } from "../../src/media/viewer/store";

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
