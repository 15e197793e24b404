import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { mongo } from "mongoose";
import { arranged, queueChanges } from "../../src/record/queue-changes";
import type { Stores } from "../../src/record/stores";
import { EMPTY_QUEUE, enter, leave, moveUp, type RunQueue } from "../../src/run/queue";
import { openStore } from "../support";

/** A change of a queue writes what it changes, and the stored queue is the one that was decided. */

let stores: Stores;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stores, stop } = await openStore());
});
afterAll(() => stop());

type Change = (queue: RunQueue) => RunQueue;

const id = fc.integer({ min: 0, max: 20 }).map(String);
const entering = fc.record({ id, bytes: fc.integer({ min: 0, max: 9 }), limit: fc.integer({ min: 1, max: 4 }) }).map(
  (newcomer): Change =>
    (queue) =>
      enter(queue, { ...newcomer, mayWait: true }).queue,
);
const leaving = fc.array(id, { minLength: 1, maxLength: 3 }).map(
  (ids): Change =>
    (queue) =>
      moveUp(leave(queue, ids)).queue,
);
const approving = id.map((one): Change => (queue) => ({ ...queue, approvals: [...new Set([...(queue.approvals ?? []), one])] }));
const change = fc.oneof({ arbitrary: entering, weight: 5 }, { arbitrary: leaving, weight: 3 }, { arbitrary: approving, weight: 1 });

it("stores the queue that was decided, whichever changes share a write", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { maxLength: 15 }), async (groups) => {
      const userId = randomUUID();
      let decided: RunQueue = EMPTY_QUEUE;
      for (const group of groups) {
        await Promise.all(group.map((one) => stores.queues.change(userId, (queue) => ({ queue: one(queue), result: null }))));
        decided = group.reduce((queue, one) => one(queue), decided);
        const { running, waiting, limit, approvals = [] } = await stores.queues.find(userId);
        const stored = { running: [...running].sort(), waiting, limit, approvals };
        expect(stored).toEqual({ approvals: [], ...decided, running: [...decided.running].sort() });
      }
    }),
    { numRuns: 40 },
  );
});

it("writes a hundredth of a full queue when a run ends and others arrive", () => {
  const places = 200;
  let queue: RunQueue = EMPTY_QUEUE;
  const arriving =
    (index: number): Change =>
    (before) =>
      enter(before, { id: `00000000-0000-7000-8000-${index}.1`, bytes: 9, limit: places, mayWait: true }).queue;
  for (let index = 0; index < 2_195; index += 1) queue = arriving(index)(queue);
  const next = arranged(queue, arriving(3_001)(arriving(3_000)(moveUp(leave(queue, [queue.running[7]!])).queue)));
  const size = (value: object): number => mongo.BSON.calculateObjectSize(value);
  expect(size(queueChanges(queue, { ...next, revision: 2 }))).toBeLessThan(size(queue) / 100);
});
