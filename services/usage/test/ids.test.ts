import { createIds } from "../src/ids";

it("increases with every id, however many are created in a millisecond", () => {
  const next = createIds(0, () => 1);
  const ids = Array.from({ length: 5_000 }, next);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});

it("increases from earlier ids, even if the clock was set back", () => {
  let now = 2_000_000;
  const next = createIds(0, () => now);
  const before = next();
  now = 1_000_000;
  expect(next()).toBeGreaterThan(before);
  expect(createIds(before, () => now)()).toBeGreaterThan(before);
});

it("rarely equals an id of another process, even if both start after an id of a clock that was ahead", () => {
  const [one, other] = [createIds(9_000_000, () => 1), createIds(9_000_000, () => 1)];
  const ids = new Set(Array.from({ length: 20 }, one));
  expect(Array.from({ length: 20 }, other).filter((id) => ids.has(id)).length).toBeLessThan(5);
});

it("is later than every id that another process created in an earlier millisecond", () => {
  const early = createIds(0, () => 1_000);
  const late = createIds(0, () => 1_001);
  const most = Math.max(...Array.from({ length: 200 }, early));
  expect(late()).toBeGreaterThan(most);
});

it("stays exact in JSON for centuries", () => {
  expect(createIds(0, () => Date.UTC(2250, 0, 1))()).toBeLessThan(Number.MAX_SAFE_INTEGER);
});
