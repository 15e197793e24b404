import { createTelling, discreetPlan, GRAPH_BOUNDS, toldOutputs } from "../../../src/graph";
import { planned } from "../../support";

describe("what a node gave", () => {
  it("is told whole while it is short, and cut at 4 kB, text by text", () => {
    expect(toldOutputs({ text: "hi", json: { a: [1] } })).toEqual({ outputsJson: '{"text":"hi","json":{"a":[1]}}' });
    const { outputsJson, truncated } = toldOutputs({ text: "x".repeat(4_097), items: ["y".repeat(5_000)], n: 1 });
    expect(truncated).toBe(true);
    expect(JSON.parse(outputsJson!)).toEqual({ text: "x".repeat(4_096), items: `["${"y".repeat(4_094)}`, n: 1 });
  });

  it("is bounded for all nodes of a run together", () => {
    const tell = createTelling();
    const told = Array.from({ length: 100 }, () => tell({ text: "x".repeat(4_096) }));
    const chars = told.reduce((sum, { outputsJson }) => sum + outputsJson!.length, 0);
    expect(chars).toBeLessThan(GRAPH_BOUNDS.toldChars + 100 * '{"text":""}'.length);
    expect(told[0]).toEqual({ outputsJson: JSON.stringify({ text: "x".repeat(4_096) }) });
    expect(told[99]).toEqual({ outputsJson: '{"text":""}', truncated: true });
  });

  it("is in the plan for nodes that planning evaluates, and taken out of a discreet one", () => {
    const plan = planned(
      [
        { id: "in", type: "request-input", data: { fields: [{ name: "who" }, { name: "why" }] } },
        { id: "box", type: "text-box", data: { text: "hi {{who}}" } },
      ],
      [["in.who", "box.who"]],
      { who: "Ada" },
    );
    expect(plan.evaluated).toMatchObject([{ outputsJson: '{"who":"Ada"}' }, { outputsJson: '{"text":"hi Ada"}' }]);
    const discreet = discreetPlan(plan);
    expect(discreet.isDiscreet).toBe(true);
    expect(JSON.stringify(discreet)).not.toContain("Ada");
  });
});
