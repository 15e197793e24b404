import { alternate, figuresOf, median, medianFigures, percentile, pooled, sideOrder } from "../src/rounds";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe("percentile", () => {
  it.each([
    { samples: [7], share: 0.5, value: 7 },
    { samples: [1, 2], share: 0.5, value: 1 },
    { samples: [3, 1, 2], share: 0.5, value: 2 },
    { samples: upTo(100), share: 0.5, value: 50 },
    { samples: upTo(100), share: 0.99, value: 99 },
    { samples: upTo(10), share: 0.99, value: 10 },
    { samples: upTo(1_000), share: 0.999, value: 999 },
    { samples: [5, 9], share: 0, value: 5 },
    { samples: [5, 9], share: 1, value: 9 },
  ])("is $value at $share of $samples.length samples", ({ samples, share, value }) => {
    expect(percentile(samples, share)).toBe(value);
  });

  it("orders numbers as numbers and leaves the samples as they are", () => {
    const samples = [10, 9, 100, 1];
    expect(percentile(samples, 1)).toBe(100);
    expect(samples).toEqual([10, 9, 100, 1]);
  });

  it("rejects an empty list of samples", () => {
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});

describe("median", () => {
  it.each([
    { values: [4], middle: 4 },
    { values: [9, 1, 5], middle: 5 },
    { values: [1, 100, 2, 3], middle: 2.5 },
  ])("of $values is $middle", ({ values, middle }) => {
    expect(median(values)).toBe(middle);
  });

  it("rejects an empty list of values", () => {
    expect(() => median([])).toThrow(RangeError);
  });
});

describe("figures", () => {
  it("count responses per second of the round", () => {
    expect(figuresOf({ latenciesMs: upTo(100), seconds: 4 })).toEqual({ p50Ms: 50, p95Ms: 95, p99Ms: 99, perSecond: 25 });
  });

  it("of several rounds ignore one disturbed round", () => {
    const calm = { p50Ms: 10, p95Ms: 20, p99Ms: 30, perSecond: 100 };
    const disturbed = { p50Ms: 900, p95Ms: 900, p99Ms: 900, perSecond: 1 };
    expect(medianFigures([calm, disturbed, calm])).toEqual(calm);
  });

  it("of pooled rounds include the slowest sample of all", () => {
    const all = pooled([
      { latenciesMs: upTo(50), seconds: 1 },
      { latenciesMs: [500], seconds: 2 },
    ]);
    expect(figuresOf(all)).toMatchObject({ p99Ms: 500, perSecond: 17 });
  });
});

describe("alternation", () => {
  it("lets each side start equally often", () => {
    const firsts = [0, 1, 2, 3].map((round) => sideOrder(round)[0]);
    expect(firsts).toEqual(["ours", "bare", "ours", "bare"]);
  });

  it("runs one side at a time, with equally many rounds for each", async () => {
    const order: string[] = [];
    let running = 0;
    const side = (name: string) => async (): Promise<string> => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      order.push(name);
      return name;
    };
    const results = await alternate(2, { ours: side("ours"), bare: side("bare") });
    expect(order).toEqual(["ours", "bare", "bare", "ours"]);
    expect(results).toEqual({ ours: ["ours", "ours"], bare: ["bare", "bare"] });
  });
});
