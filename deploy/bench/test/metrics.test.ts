import { metricsOf, ratioOf, verdictOf, type Metric, type Target } from "../src/metrics";
import { renderTable, renderVerdicts, reportJson } from "../src/report";

const metric = (ours: number, bare: number | undefined, target?: Target): Metric => ({
  scenario: "x",
  name: "something",
  unit: "ms",
  ours,
  ...(bare === undefined ? {} : { bare }),
  ...(target ? { target } : {}),
});

describe("a target", () => {
  const cases: { metric: Metric; met: boolean; missedBy: number }[] = [
    { metric: metric(40, 100, { kind: "ratio at least", value: 0.35 }), met: true, missedBy: 0 },
    { metric: metric(50, 100, { kind: "ratio at least", value: 0.5 }), met: true, missedBy: 0 },
    { metric: metric(25, 100, { kind: "ratio at least", value: 0.5 }), met: false, missedBy: 0.5 },
    { metric: metric(20, 10, { kind: "ratio at most", value: 2 }), met: true, missedBy: 0 },
    { metric: metric(30, 10, { kind: "ratio at most", value: 2 }), met: false, missedBy: 0.5 },
    { metric: metric(499, undefined, { kind: "below", value: 500 }), met: true, missedBy: 0 },
    { metric: metric(500, undefined, { kind: "below", value: 500 }), met: false, missedBy: 0 },
    { metric: metric(150, undefined, { kind: "below", value: 100 }), met: false, missedBy: 0.5 },
  ];
  it.each(cases)(
    "is judged by $metric.target.kind $metric.target.value: $metric.ours to $metric.bare",
    ({ metric: metricValue, met, missedBy }) => {
      const verdict = verdictOf(metricValue)!;
      expect(verdict.met).toBe(met);
      expect(verdict.missedBy).toBeCloseTo(missedBy, 10);
    },
  );

  it("needs a baseline if its target is a ratio", () => {
    expect(() => verdictOf(metric(1, undefined, { kind: "ratio at most", value: 2 }))).toThrow("nothing to be compared with");
  });

  it("is neither met nor missed without a target", () => {
    expect(verdictOf(metric(1, 2))).toBeUndefined();
    expect(ratioOf(metric(1, 2))).toBe(0.5);
  });
});

describe("the report", () => {
  const figures = { p50Ms: 20, p95Ms: 40, p99Ms: 50, perSecond: 60 };
  const metrics = [
    ...metricsOf(
      "b",
      "runs",
      { ours: figures, bare: { ...figures, p50Ms: 8, perSecond: 100 } },
      { p50: { kind: "ratio at most", value: 2 }, "per second": null },
    ),
    ...metricsOf("d", "cancel", { ours: figures }, { p99: { kind: "below", value: 100 } }),
  ];

  it("aligns its columns", () => {
    expect(renderTable(metrics).split("\n")).toEqual([
      "   metric               ours     bare  ratio    target",
      "b  runs, p50         20.0 ms  8.00 ms  2.50×   ≤ 2.00×  MISSED",
      "b  runs, per second  60.0 /s   100 /s  0.60×         –",
      "d  cancel, p99       50.0 ms        –      –  < 100 ms  met",
    ]);
  });

  it("lists the missed targets and the size of each miss", () => {
    expect(renderVerdicts(metrics)).toBe("1 of 2 targets met\n  missed (b) runs, p50: 2.50×, target ≤ 2.00×, off by 25 %");
  });

  it("includes ratio and verdict for machines", () => {
    expect(reportJson(metrics)).toMatchObject([{ ratio: 2.5, met: false }, { ratio: 0.6 }, { met: true, missedBy: 0 }]);
  });
});
