import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { mongo } from "mongoose";
import { arranged, queueChanges, withoutEnded } from "../../src/record/queues";
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

const size = (value: object): number => mongo.BSON.calculateObjectSize(value);
const arrivalOf =
  (index: number, limit: number): Change =>
  (queue) =>
    enter(queue, { id: `00000000-0000-7000-8000-${index}.1`, bytes: 9, limit, mayWait: true }).queue;
const filled = (runs: number, limit: number): RunQueue =>
  Array.from({ length: runs }, (_, index) => arrivalOf(index, limit)).reduce((queue, arrive) => arrive(queue), EMPTY_QUEUE);

it("writes a hundredth of a full queue when a run ends and others arrive", () => {
  const queue = filled(2_195, 200);
  const next = arranged(queue, arrivalOf(3_001, 200)(arrivalOf(3_000, 200)(moveUp(leave(queue, [queue.running[7]!])).queue)));
  expect(size(queueChanges(queue, { ...next, revision: 2 }))).toBeLessThan(size(queue) / 100);
});

const threeEndAndOneStarts = (queue: RunQueue): RunQueue => {
  const endedRuns = [7, 17, 27].map((place) => queue.running[place]!);
  return arranged(queue, arrivalOf(3_000, 600)(leave(queue, endedRuns)));
};

it("writes a fraction of the places when several runs end and fewer start at the same time", () => {
  const queue = filled(500, 600);
  const next = threeEndAndOneStarts(queue);
  const shorter = withoutEnded(queue, next)!;
  const updates = [queueChanges(queue, { ...shorter, revision: 2 }), queueChanges(shorter, { ...next, revision: 3 })];
  expect(size(updates)).toBeLessThan(size(queue) / 50);
});

it("writes a short list of running runs in one update", () => {
  const queue = filled(100, 600);
  expect(withoutEnded(queue, threeEndAndOneStarts(queue))).toBeUndefined();
});
