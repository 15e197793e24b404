import fc from "fast-check";
import { EMPTY_QUEUE, enter, leave, QUEUE_LENGTH_FACTOR, moveUp, placeOf, resize, type RunQueue } from "../../src/run/queue";

const arrive = (queue: RunQueue, id: string, limit = 2, mayWait = true, bytes = 1) => enter(queue, { id, bytes, limit, mayWait });

it("gives places in order of arrival, and lets no later run overtake a waiting one", () => {
  let queue = EMPTY_QUEUE;
  const places = ["a", "b", "c", "d"].map((id) => {
    const arrived = arrive(queue, id);
    queue = arrived.queue;
    return arrived.place;
  });
  expect(places).toEqual([0, 0, 1, 2]);
  // The free place belongs to the run that has waited longest.
  queue = leave(queue, ["a"]);
  expect(arrive(queue, "e").place).toBe(3);
  const { queue: next, moved } = moveUp(queue);
  expect(moved).toEqual(["c"]);
  expect(placeOf(next, "d")).toBe(1);
});

it("accepts a changed number of places, and keeps an empty queue unchanged", () => {
  const queue = arrive(arrive(arrive(EMPTY_QUEUE, "a", 1).queue, "b", 1).queue, "c", 1).queue;
  expect(moveUp(resize(queue, 2)).moved).toEqual(["b"]);
  expect(moveUp(resize(queue, 0)).moved).toEqual(["b", "c"]);
  expect(moveUp(resize(queue, 1)).queue).toBe(queue);
  expect(resize(EMPTY_QUEUE, 10)).toBe(EMPTY_QUEUE);
});

it("keeps a run's place when it arrives again", () => {
  const { queue } = arrive(arrive(EMPTY_QUEUE, "a", 1).queue, "b", 1);
  expect(arrive(queue, "b", 1)).toEqual({ queue, place: 1 });
  expect(arrive(queue, "a", 1)).toEqual({ queue, place: 0 });
});

it("rejects runs that can't wait, and runs that exceed the queue's limits of number or bytes", () => {
  const { queue: full } = arrive(EMPTY_QUEUE, "a", 1);
  expect(arrive(full, "b", 1, false).place).toBeNull();
  let queue = full;
  for (let index = 0; index < QUEUE_LENGTH_FACTOR; index += 1) queue = arrive(queue, `w${index}`, 1).queue;
  expect(arrive(queue, "late", 1).place).toBeNull();
  const large = arrive(full, "large", 1, true, 60 * 1024 * 1024).queue;
  expect(arrive(large, "larger", 1, true, 10 * 1024 * 1024).place).toBeNull();
});

it("never gives more places than the limit, and loses no run, whatever the order", () => {
  const step = fc.oneof(
    fc.record({ enter: fc.integer({ min: 0, max: 30 }), limit: fc.integer({ min: 1, max: 4 }), mayWait: fc.boolean() }),
    fc.record({ leave: fc.integer({ min: 0, max: 30 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let queue = EMPTY_QUEUE;
      const inside = new Set<string>();
      for (const one of steps) {
        if ("leave" in one) {
          const goneId = String(one.leave);
          queue = moveUp(leave(queue, [goneId])).queue;
          inside.delete(goneId);
        } else {
          const before = queue.running.length;
          const { queue: next, place } = arrive(queue, String(one.enter), one.limit, one.mayWait);
          queue = next;
          if (place !== null) inside.add(String(one.enter));
          expect(queue.running.length).toBeLessThanOrEqual(Math.max(before, one.limit));
        }
        const all = [...queue.running, ...queue.waiting.map(({ id }) => id)];
        expect(new Set(all)).toEqual(inside);
        expect(all).toHaveLength(inside.size);
      }
    }),
  );
});
