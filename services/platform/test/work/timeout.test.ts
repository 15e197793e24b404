import { withTimeout } from "../../src";

const never = new Promise<never>(() => undefined);
const HOUR_MS = 3_600_000;
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("returns the result of work within its time, or its error, and leaves no timer behind", async () => {
  const before = timers();
  expect(await withTimeout(Promise.resolve("done"), HOUR_MS, () => "late")).toBe("done");
  await expect(withTimeout(Promise.reject(new Error("away")), HOUR_MS, () => "late")).rejects.toThrow("away");
  expect(timers()).toBe(before);
});

it("returns the fallback for work that takes longer", async () => {
  expect(await withTimeout(never, 1, () => "late")).toBe("late");
});

it("throws the given error for work that takes longer", async () => {
  const late = (): never => {
    throw new Error("not done in time");
  };
  await expect(withTimeout(never, 1, late)).rejects.toThrow("not done in time");
});

it("ignores an error of work that took longer", async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_, reject) => (fail = reject));
  expect(await withTimeout(work, 1, () => "late")).toBe("late");
  fail(new Error("away after all"));
  await new Promise((resolve) => setTimeout(resolve, 5));
});
