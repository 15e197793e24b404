import { heapGrowthPercent } from "../../src/process/heap";

const MB = 1024 * 1024;

describe("growth of the heap between two full collections", () => {
  it("lets a small heap grow to one size, whatever it has", () => {
    for (const used of [20, 40, 64, 90]) expect(used * (1 + heapGrowthPercent(used * MB) / 100)).toBeCloseTo(128, -1);
  });

  it("lets a large heap grow by 40 percent", () => {
    for (const used of [92, 128, 400]) expect(heapGrowthPercent(used * MB)).toBe(40);
  });
});
