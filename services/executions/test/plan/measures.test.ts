import { randomUUID } from "node:crypto";
import { createLogger } from "@nodeloom/platform";
import { createMeasure, measured } from "../../src/plan/measures";
import type { MeasuredCall } from "../../src/record/calls/calls";

const call = (ms: number, part: Partial<MeasuredCall> = {}): MeasuredCall => ({
  ...{ status: "completed", sentAt: new Date(0), endedAt: new Date(ms) },
  ...part,
});
const failed = (fault?: "provider" | "input"): MeasuredCall =>
  call(1, { status: "failed", error: { code: "EXECUTION_FAILED", ...(fault ? { fault } : {}) } });

it("measures the median duration of completed calls, and the share of calls that failed", () => {
  const calls = [call(300), call(100), call(9_000), failed("provider"), failed("input"), call(5, { status: "cancelled" })];
  expect(measured(calls)).toEqual({ calls: 4, errorRate: 0.25, p50Ms: 300 });
});

it("says nothing about a model with fewer than three calls", () => {
  expect(measured([call(300), call(100)])).toEqual({ calls: 2, errorRate: null, p50Ms: null });
  expect(measured([call(300), failed("provider"), failed("provider")])).toMatchObject({ calls: 3, p50Ms: null });
});

it("treats models as not measured if the statistics can't be read, and says which provider is away", async () => {
  const measure = createMeasure({
    statistics: { recent: (model) => (model === "lost" ? Promise.reject(new Error("no answer")) : Promise.resolve([])) },
    isUnavailable: (providerJson) => providerJson === "away",
    logger: createLogger("test", "silent"),
  });
  const model = (internalName: string, providerJson = "{}") => ({ internalName, providerJson });
  expect(await measure([model("lost"), model(randomUUID(), "away")])).toEqual([
    { calls: 0, errorRate: null, p50Ms: null, isUnavailable: false },
    { calls: 0, errorRate: null, p50Ms: null, isUnavailable: true },
  ]);
});
