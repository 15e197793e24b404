import { unavailable } from "@nodeloom/kernel";
import { createFreshCache } from "../src/clients/cache";

const cacheOf = (load: (key: string) => Promise<{ of: string }>) => {
  let nowMs = 0;
  const cache = createFreshCache({ maxEntries: 10, freshMs: 100, staleMs: 1_000, load, now: () => nowMs });
  return { cache, pass: (ms: number) => (nowMs += ms) };
};

describe("a cache of callers", () => {
  it("loads once for concurrent misses, and again when the entry is no longer fresh", async () => {
    let loads = 0;
    const { cache, pass } = cacheOf((of) => Promise.resolve({ of, n: (loads += 1) }));
    await Promise.all([cache.get("a", "a"), cache.get("a", "a"), cache.get("b", "b")]);
    expect(loads).toBe(2);
    pass(99);
    await cache.get("a", "a");
    expect(loads).toBe(2);
    pass(1);
    await cache.get("a", "a");
    expect(loads).toBe(3);
  });

  it("does not keep a result that was loading during a change", async () => {
    let answer: (value: { of: string }) => void = () => undefined;
    const { cache } = cacheOf(() => new Promise((resolve) => (answer = resolve)));
    const before = cache.get("a", "a");
    cache.invalidate(() => true);
    const outdated = answer;
    const after = cache.get("a", "a");
    answer({ of: "after" });
    outdated({ of: "before" });
    expect([(await before).of, (await after).of]).toEqual(["before", "after"]);
    expect((await cache.get("a", "a")).of).toBe("after");
  });

  it("drops entries affected by a change, and no others", async () => {
    let loads = 0;
    const { cache } = cacheOf((of) => Promise.resolve({ of, n: (loads += 1) }));
    await Promise.all([cache.get("a", "a"), cache.get("b", "b")]);
    cache.invalidate(({ of }) => of === "a");
    await Promise.all([cache.get("a", "a"), cache.get("b", "b")]);
    expect(loads).toBe(3);
  });

  it("keeps entries for a while if the source is unavailable", async () => {
    let up = true;
    const { cache, pass } = cacheOf((of) => (up ? Promise.resolve({ of }) : Promise.reject(unavailable("away"))));
    await cache.get("a", "a");
    up = false;
    pass(500);
    expect((await cache.get("a", "a")).of).toBe("a");
    await expect(cache.get("b", "b")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    pass(500);
    await expect(cache.get("a", "a")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  });

  it("drops an entry at once if its source no longer has it", async () => {
    let isKnown = true;
    const { cache, pass } = cacheOf((of) => (isKnown ? Promise.resolve({ of }) : Promise.reject(new Error("revoked"))));
    await cache.get("a", "a");
    isKnown = false;
    pass(100);
    await expect(cache.get("a", "a")).rejects.toThrow("revoked");
    pass(-100);
    await expect(cache.get("a", "a")).rejects.toThrow("revoked");
  });
});
