import { createReporter, withHiddenOutputs, GRAPH_BOUNDS, reportedOutputs } from "../../../src/graph";
import { planned } from "../../support";

describe("a node's output", () => {
  it("is reported whole while it is short, and cut at 4 kB, text by text", () => {
    expect(reportedOutputs({ text: "hi", json: { a: [1] } })).toEqual({ outputsJson: '{"text":"hi","json":{"a":[1]}}' });
    const { outputsJson, truncated } = reportedOutputs({ text: "x".repeat(4_097), items: ["y".repeat(5_000)], n: 1 });
    expect(truncated).toBe(true);
    expect(JSON.parse(outputsJson!)).toEqual({ text: "x".repeat(4_096), items: `["${"y".repeat(4_094)}`, n: 1 });
  });

  it("is cut by bytes of UTF-8, and never inside a character", () => {
    expect(reportedOutputs({ text: "é".repeat(2_048) })).toEqual({ outputsJson: JSON.stringify({ text: "é".repeat(2_048) }) });
    for (const [sourceText, shownText] of [
      ["é".repeat(2_049), "é".repeat(2_048)],
      ["x" + "😀".repeat(1_024), "x" + "😀".repeat(1_023)],
      [["€".repeat(1_500)], `["${"€".repeat(1_364)}`],
    ]) {
      expect(reportedOutputs({ text: sourceText })).toEqual({ outputsJson: JSON.stringify({ text: shownText }), truncated: true });
    }
  });

  it("is limited for all nodes of a run together", () => {
    const report = createReporter();
    const reported = Array.from({ length: 100 }, () => report({ text: "x".repeat(4_096) }));
    const bytes = reported.reduce((sum, { outputsJson }) => sum + Buffer.byteLength(outputsJson!), 0);
    expect(bytes).toBeLessThan(GRAPH_BOUNDS.reportedBytes + 100 * '{"text":""}'.length);
    expect(reported[0]).toEqual({ outputsJson: JSON.stringify({ text: "x".repeat(4_096) }) });
    expect(reported[99]).toEqual({ outputsJson: '{"text":""}', truncated: true });
  });

  it("is in the plan for nodes that planning evaluates, and removed from one that hides them", () => {
    const plan = planned(
      [
        { id: "in", type: "request-input", data: { fields: [{ name: "who" }, { name: "why" }] } },
        { id: "box", type: "text-box", data: { text: "hi {{who}}" } },
      ],
      [["in.who", "box.who"]],
      { who: "Ada" },
    );
    expect(plan.evaluated).toMatchObject([{ outputsJson: '{"who":"Ada"}' }, { outputsJson: '{"text":"hi Ada"}' }]);
    const hiding = withHiddenOutputs(plan);
    expect(hiding.hidesOutputs).toBe(true);
    expect(JSON.stringify(hiding)).not.toContain("Ada");
  });
});
