import { createCallClock } from "../../src/calls/clock";
import { TIMING } from "../../src/run/timing";

let now = Date.parse("2030-01-01T00:00:00Z");
beforeEach(() => void jest.spyOn(Date, "now").mockImplementation(() => now));
afterEach(() => jest.restoreAllMocks());

describe("the times of a call", () => {
  it("count from the start of the provider's call, without the wait in the queue", async () => {
    const times: number[] = [];
    const clock = createCallClock({ onAsked: (at) => times.push(at) });
    await clock.waiting(() => Promise.resolve((now += 3_600_000)));
    clock.asked();
    const askedAt = now;
    expect(clock.triesUntil()).toBe(askedAt + TIMING.submitTotal);
    now += 30_000;
    await clock.waiting(() => Promise.resolve((now += 600_000)));
    expect(clock.triesUntil()).toBe(askedAt + 600_000 + TIMING.submitTotal);
    await expect(clock.waiting(() => Promise.reject(new Error("full", { cause: (now += 1_000) })))).rejects.toThrow("full");
    expect(clock.triesUntil()).toBe(askedAt + 601_000 + TIMING.submitTotal);
    expect(times).toEqual([askedAt, askedAt + 600_000, askedAt + 601_000]);
  });

  it("continue from an earlier attempt", () => {
    expect(createCallClock({ askedAt: now - 90_000 }).triesUntil()).toBe(now - 90_000 + TIMING.submitTotal);
  });
});
