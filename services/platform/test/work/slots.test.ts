import { deferred } from "../../../../test-support/deferred";
import { createSlots, NoSlot, type Slots } from "../../src/work/slots";

const LONG = { maxWaitMs: 10_000 };

/** Work that ends on command. */
const gated = (
  slots: Slots,
  options: Parameters<Slots["use"]>[1] = LONG,
): { began: () => boolean; end: () => void; done: Promise<string> } => {
  let began = false;
  const { promise: over, resolve: end } = deferred();
  const result = slots.use(async () => {
    began = true;
    await over;
    return "done";
  }, options);
  return { began: () => began, end, done: result };
};
/** Lets all due work run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("runs up to its limit at once, and later work in order of arrival", async () => {
  const slots = createSlots({ concurrency: 2, queueLimit: 10 });
  const all = Array.from({ length: 5 }, () => gated(slots));
  const running = (): number[] => all.flatMap((one, index) => (one.began() ? [index] : []));
  await settle();
  expect(running()).toEqual([0, 1]);
  all[1]!.end();
  await settle();
  expect(running()).toEqual([0, 1, 2]);
  all[0]!.end();
  all[2]!.end();
  await settle();
  expect(running()).toEqual([0, 1, 2, 3, 4]);
  all.forEach((one) => one.end());
  expect(await Promise.all(all.map((one) => one.done))).toHaveLength(5);
});

it("frees a slot after a failure", async () => {
  const slots = createSlots({ concurrency: 1, queueLimit: 1 });
  await expect(slots.use(() => Promise.reject(new Error("no")), LONG)).rejects.toThrow("no");
  expect(await slots.use(() => Promise.resolve("next"), LONG)).toBe("next");
});

it("rejects work that finds no slot, waits too long or is aborted, and loses no slot", async () => {
  const slots = createSlots({ concurrency: 1, queueLimit: 2 });
  const first = gated(slots);
  const cancellation = new AbortController();
  const impatient = gated(slots, { maxWaitMs: 5 });
  const leaving = gated(slots, { ...LONG, signal: cancellation.signal });
  await expect(slots.use(() => Promise.resolve(), LONG)).rejects.toBeInstanceOf(NoSlot);
  cancellation.abort(new Error("cancelled"));
  await expect(leaving.done).rejects.toThrow("cancelled");
  await expect(impatient.done).rejects.toBeInstanceOf(NoSlot);
  await expect(slots.use(() => Promise.resolve(), { ...LONG, signal: cancellation.signal })).rejects.toThrow("cancelled");
  const next = gated(slots);
  first.end();
  await first.done;
  next.end();
  expect(await next.done).toBe("done");
  expect([impatient.began(), leaving.began()]).toEqual([false, false]);
});

it("lets keys take turns, however many of one came first", async () => {
  const slots = createSlots({ concurrency: 1, queueLimit: 100 });
  const order: string[] = [];
  const use = (key: string, name: string): Promise<void> =>
    slots.use(
      async () => {
        order.push(name);
        await settle();
      },
      { ...LONG, key },
    );
  const all = [..."12345"].map((number) => use("busy", `busy ${number}`));
  all.push(use("other", "other 1"), use("third", "third 1"), use("other", "other 2"));
  await Promise.all(all);
  expect(order).toEqual(["busy 1", "busy 2", "other 1", "third 1", "busy 3", "other 2", "busy 4", "busy 5"]);
});

it("admits work with a weight when all of it fits, and nothing smaller before it", async () => {
  const slots = createSlots({ concurrency: 10, queueLimit: 10 });
  const [heavy, heavier, light] = [8, 9, 1].map((weight) => gated(slots, { ...LONG, weight }));
  await settle();
  expect([heavy, heavier, light].map((one) => one!.began())).toEqual([true, false, false]);
  heavy!.end();
  await settle();
  expect([heavier, light].map((one) => one!.began())).toEqual([true, true]);
  heavier!.end();
  light!.end();
  await Promise.all([heavy!.done, heavier!.done, light!.done]);
  expect(slots.load()).toEqual({ inUse: 0, waiting: 0 });
});

it("admits work that exceeds the total limit only alone", async () => {
  const slots = createSlots({ concurrency: 10, queueLimit: 10 });
  const huge = gated(slots, { ...LONG, weight: 1_000 });
  await settle();
  expect(huge.began()).toBe(true);
  huge.end();
  await huge.done;
  expect(slots.load().inUse).toBe(0);
});

it("admits later work if earlier large work is aborted", async () => {
  const slots = createSlots({ concurrency: 10, queueLimit: 10 });
  const first = gated(slots, { ...LONG, weight: 5 });
  const impatient = gated(slots, { weight: 10, maxWaitMs: 20 });
  const light = gated(slots, { ...LONG, weight: 1 });
  await expect(impatient.done).rejects.toThrow(NoSlot);
  await settle();
  expect(light.began()).toBe(true);
  first.end();
  light.end();
  await Promise.all([first.done, light.done]);
});
