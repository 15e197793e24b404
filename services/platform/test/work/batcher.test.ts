import { createBatcher, type BatcherOptions } from "../../src/work/batcher";
import { deferred } from "../../../../test-support/deferred";

const LONG_MS = 60_000;

/** A batcher that answers each item with the size of its batch, as soon as its work can end. */
const batcherOf = (options: Partial<BatcherOptions<string, number>> = {}, mayEnd: Promise<void> = Promise.resolve()) =>
  createBatcher<string, number>({
    work: async (_key, batch) => {
      await mayEnd;
      for (const { resolve } of batch) resolve(batch.length);
    },
    ...{ maxBatch: 10, maxWaiting: 10, overloaded: () => new Error("overloaded") },
    ...options,
  });
const later = (): number => Date.now() + LONG_MS;

it("batches the items that one piece of code submits, and those that arrive during a batch", async () => {
  const { promise: mayEnd, resolve: end } = deferred();
  const { submit } = batcherOf({}, mayEnd);
  const first = [submit("k", "a", later()), submit("k", "b", later())];
  await new Promise(setImmediate);
  const next = [submit("k", "c", later()), submit("k", "d", later()), submit("k", "e", later())];
  const other = submit("another", "f", later());
  end();
  expect(await Promise.all([...first, ...next, other])).toEqual([2, 2, 3, 3, 3, 1]);
});

it("waits for more items before every batch, if set", async () => {
  const { submit } = batcherOf({ gatherMs: 30 });
  for (const _ of ["first", "second"]) {
    const one = submit("k", "a", later());
    await new Promise(setImmediate);
    const another = submit("k", "b", later());
    expect(await Promise.all([one, another])).toEqual([2, 2]);
  }
});

it("doesn't wait for others if a batch is full", async () => {
  const { submit } = batcherOf({ gatherMs: LONG_MS, maxBatch: 1 });
  expect(await Promise.all([submit("k", "a", later()), submit("k", "b", later())])).toEqual([1, 1]);
});

it("ends its wait when a batch is full, and when it is closed", async () => {
  const { submit, close } = batcherOf({ gatherMs: LONG_MS, maxBatch: 2 });
  const first = submit("k", "a", later());
  await new Promise(setImmediate);
  expect(await Promise.all([first, submit("k", "b", later())])).toEqual([2, 2]);
  const last = submit("k", "c", later());
  await new Promise(setImmediate);
  await close();
  expect(await last).toBe(1);
});

it("rejects items beyond its limit, items that waited too long, and items after it is closed", async () => {
  const { promise: mayEnd, resolve: end } = deferred();
  const { submit, close } = batcherOf({ maxWaiting: 1 }, mayEnd);
  const first = submit("k", "a", later());
  await new Promise(setImmediate);
  const late = submit("k", "b", Date.now() - 1);
  await expect(submit("k", "c", later())).rejects.toThrow("overloaded");
  const closed = close();
  await expect(submit("k", "d", later())).rejects.toThrow("the process is stopping");
  end();
  await expect(late).rejects.toThrow("overloaded");
  expect(await first).toBe(1);
  await closed;
});
