import type { NodeProgress } from "../../src/runs/live";
import { shareOf, shareOfRun } from "../../src/runs/share";

const node = (more: Partial<NodeProgress>): NodeProgress => ({
  id: "n",
  type: "generate-image",
  status: "processing",
  startedAt: null,
  durationMs: null,
  creditsCost: 0,
  error: null,
  ...more,
});

describe("how far a run is", () => {
  it("is known of a node by its items, else by the time that it took before", () => {
    expect(shareOf(node({ items: 4, itemsDone: 1 }), 0, undefined)).toBe(0.25);
    expect(shareOf(node({}), 3_000, 12_000)).toBe(0.25);
    expect(shareOf(node({}), 3_000, undefined)).toBeUndefined();
    expect(shareOf(node({ items: 4, itemsDone: 1 }), 3_000, 4_000)).toBe(0.75);
  });

  it("is never all of a node that still runs", () => {
    expect(shareOf(node({}), 60_000, 12_000)).toBeLessThan(1);
    expect(shareOf(node({ items: 2, itemsDone: 2 }), 0, undefined)).toBeLessThan(1);
  });

  it("is known of a run by the calls of its nodes", () => {
    const values = node({ type: "text-box", status: "completed" });
    expect(shareOfRun([values])).toBeUndefined();
    expect(
      shareOfRun([values, node({ status: "completed", items: 3 }), node({ items: 3, itemsDone: 1 }), node({ status: "pending" })]),
    ).toBe(4 / 7);
  });
});
