import { admitApproval, EMPTY_QUEUE, enter, leave, moveUp, stepAside, type RunQueue } from "../../src/run/queue";
import { createWaitingTime } from "../../src/run/approvals";

it("counts the time with at least one open decision once", () => {
  const time = createWaitingTime();
  time.begin(100);
  time.begin(150);
  expect([time.totalMs(180), time.isOpen()]).toEqual([80, true]);
  time.end(200);
  time.end(300);
  expect([time.totalMs(1_000), time.isOpen()]).toEqual([200, false]);
  time.begin(1_000);
  expect(time.totalMs(1_050)).toBe(250);
});

const LINE: RunQueue = { ...EMPTY_QUEUE, limit: 1, running: ["a"], approvals: ["a"] };

it("frees the place of a run that waits for decisions, and puts it behind earlier runs afterwards", () => {
  const aside = stepAside(LINE, "a");
  expect(aside).toMatchObject({ running: [], approvals: ["a"] });
  expect(stepAside(aside, "a")).toBe(aside);
  const other = enter(aside, { id: "b", bytes: 1, limit: 1, mayWait: true }).queue;
  // The result doesn't depend on the queue's length.
  const full: RunQueue = { ...other, waiting: Array.from({ length: 10 }, (_, index) => ({ id: `w${index}`, bytes: 1 })) };
  const back = enter(full, { id: "a", bytes: 0, limit: 1, mayWait: true, isReturning: true });
  expect(back.place).toBe(11);
  expect(enter(full, { id: "c", bytes: 1, limit: 1, mayWait: true }).place).toBeNull();
  expect(moveUp(leave({ ...other, waiting: [{ id: "a", bytes: 0 }] }, ["b"]))).toMatchObject({ moved: ["a"], queue: { running: ["a"] } });
});

it("admits as many runs with an approval as can wait, and another one once one has left", () => {
  const two = admitApproval(LINE, "b", 2)!;
  expect(admitApproval(two, "c", 2)).toBeUndefined();
  expect(admitApproval(two, "b", 2)).toBe(two);
  expect(admitApproval(leave(two, ["a"]), "c", 2)).toMatchObject({ approvals: ["b", "c"], running: [] });
});
