import fc from "fast-check";
import { EMPTY_LINE, enter, leave, LINE_LENGTH_FACTOR, moveUp, placeOf, resize, type Line } from "../../src/run/line";

const arrive = (line: Line, id: string, limit = 2, mayWait = true, bytes = 1) => enter(line, { id, bytes, limit, mayWait });

it("gives places in order of arrival, and lets nobody overtake those who wait", () => {
  let line = EMPTY_LINE;
  const places = ["a", "b", "c", "d"].map((id) => {
    const arrived = arrive(line, id);
    line = arrived.line;
    return arrived.place;
  });
  expect(places).toEqual([0, 0, 1, 2]);
  // A place is free, but it is the oldest's.
  line = leave(line, ["a"]);
  expect(arrive(line, "e").place).toBe(3);
  const { line: next, moved } = moveUp(line);
  expect(moved).toEqual(["c"]);
  expect(placeOf(next, "d")).toBe(1);
});

it("takes another number of places, and leaves a line alone in which nobody is", () => {
  const line = arrive(arrive(arrive(EMPTY_LINE, "a", 1).line, "b", 1).line, "c", 1).line;
  expect(moveUp(resize(line, 2)).moved).toEqual(["b"]);
  expect(moveUp(resize(line, 0)).moved).toEqual(["b", "c"]);
  expect(moveUp(resize(line, 1)).line).toBe(line);
  expect(resize(EMPTY_LINE, 10)).toBe(EMPTY_LINE);
});

it("keeps a run's place when it arrives again", () => {
  const { line } = arrive(arrive(EMPTY_LINE, "a", 1).line, "b", 1);
  expect(arrive(line, "b", 1)).toEqual({ line, place: 1 });
  expect(arrive(line, "a", 1)).toEqual({ line, place: 0 });
});

it("turns away who would not wait, and who finds the line full by number or by bytes", () => {
  const { line: full } = arrive(EMPTY_LINE, "a", 1);
  expect(arrive(full, "b", 1, false).place).toBeNull();
  let line = full;
  for (let index = 0; index < LINE_LENGTH_FACTOR; index += 1) line = arrive(line, `w${index}`, 1).line;
  expect(arrive(line, "late", 1).place).toBeNull();
  const large = arrive(full, "large", 1, true, 60 * 1024 * 1024).line;
  expect(arrive(large, "larger", 1, true, 10 * 1024 * 1024).place).toBeNull();
});

it("never gives more places than the limit, and loses nobody, whatever the order", () => {
  const step = fc.oneof(
    fc.record({ enter: fc.integer({ min: 0, max: 30 }), limit: fc.integer({ min: 1, max: 4 }), mayWait: fc.boolean() }),
    fc.record({ leave: fc.integer({ min: 0, max: 30 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let line = EMPTY_LINE;
      const inside = new Set<string>();
      for (const one of steps) {
        if ("leave" in one) {
          const gone = String(one.leave);
          line = moveUp(leave(line, [gone])).line;
          inside.delete(gone);
        } else {
          const before = line.running.length;
          const { line: next, place } = arrive(line, String(one.enter), one.limit, one.mayWait);
          line = next;
          if (place !== null) inside.add(String(one.enter));
          expect(line.running.length).toBeLessThanOrEqual(Math.max(before, one.limit));
        }
        const all = [...line.running, ...line.waiting.map(({ id }) => id)];
        expect(new Set(all)).toEqual(inside);
        expect(all).toHaveLength(inside.size);
      }
    }),
  );
});
