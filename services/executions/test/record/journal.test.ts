import type { ExecutionEvent } from "../../src/run/events";
import type { KnownLog } from "../../src/record/runs/event-log";
import { createJournal } from "../../src/record/runs/journal";

const LONG_MS = 60_000;
const event = (key: string): ExecutionEvent => ({ key, type: "news", at: new Date(), data: {} });
const keys = (events: readonly ExecutionEvent[]): string[] => events.map(({ key }) => key);

/** A log in memory whose writes can be held. */
const start = ({ isHeld = false } = {}) => {
  const recorded = new Set<string>();
  const writes: string[][] = [];
  const toldKeys: string[][] = [];
  const pendingWrites: { pass: () => void; fail: () => void }[] = [];
  const journal = createJournal({
    append: async (_id, events): Promise<KnownLog> => {
      writes.push(keys(events));
      if (isHeld)
        await new Promise<void>((pass, reject) => pendingWrites.push({ pass, fail: () => reject(new Error("the database is away")) }));
      for (const { key } of events) recorded.add(key);
      return { recorded: new Set(recorded), parts: [], requestId: null };
    },
    announce: (_id, events) => void toldKeys.push(keys(events)),
  });
  return { journal, writes, reports: toldKeys, pendingWrites };
};

it("writes close events at once, in order, each once, and announces them afterwards", async () => {
  const { journal, writes, reports } = start();
  const noted = ["a", "b", "a", "c"].map((key) => journal.note("run", event(key), 1));
  expect(reports).toEqual([]);
  for (const one of await Promise.all(noted)) expect([...one!.recorded]).toEqual(["a", "b", "c"]);
  expect(writes).toEqual([["a", "b", "c"]]);
  expect(reports).toEqual([["a", "b", "c"]]);
});

it("delays no event longer than its limit, whatever the events before it do", async () => {
  const { journal, writes } = start();
  const patient = journal.note("run", event("patient"), LONG_MS);
  await journal.note("run", event("urgent"), 1);
  await patient;
  expect(writes).toEqual([["patient", "urgent"]]);
});

it("writes events of one run one after another, and delays no other run", async () => {
  const { journal, writes, pendingWrites } = start({ isHeld: true });
  const until = async (count: number): Promise<void> => {
    while (pendingWrites.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const first = journal.note("run", event("first"), 0);
  await until(1);
  const second = journal.note("run", event("second"), 0);
  const other = journal.note("other", event("other"), 0);
  await until(2);
  expect(writes).toEqual([["first"], ["other"]]);
  pendingWrites[1]!.pass();
  await other;
  pendingWrites[0]!.pass();
  await first;
  await until(3);
  pendingWrites[2]!.pass();
  await second;
  expect(writes).toEqual([["first"], ["other"], ["second"]]);
});

it("leaves waiting events to the last write of their run, after the events being written", async () => {
  const { journal, writes, pendingWrites } = start({ isHeld: true });
  const writing = journal.note("run", event("first"), 0);
  while (pendingWrites.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const waiting = journal.note("run", event("last"), LONG_MS);
  const last = journal.close("run", (events) => Promise.resolve(keys(events)));
  pendingWrites[0]!.pass();
  await writing;
  expect(await last).toEqual(["last"]);
  expect(await waiting).toBeNull();
  await journal.flush();
  expect(writes).toEqual([["first"]]);
});

it("still writes waiting events if the last write changed nothing, and announces the log's earlier events", async () => {
  const { journal, writes } = start();
  await journal.note("run", event("first"), 0);
  const waiting = journal.note("run", event("last"), LONG_MS);
  const knownKeys: (string[] | undefined)[] = [];
  const close = () =>
    journal.close("run", (_, log) => {
      knownKeys.push(log && [...log.recorded]);
      return Promise.resolve(null);
    });
  expect(await close()).toBeNull();
  expect(await waiting).not.toBeNull();
  await close();
  expect(writes).toEqual([["first"], ["last"]]);
  expect(knownKeys).toEqual([["first"], ["first", "last"]]);
});

it("still writes waiting events if the last write fails", async () => {
  const { journal, writes } = start();
  const waiting = journal.note("run", event("last"), LONG_MS);
  await expect(journal.close("run", () => Promise.reject(new Error("the database is away")))).rejects.toThrow("away");
  expect(await waiting).not.toBeNull();
  expect(writes).toEqual([["last"]]);
});

it("reports a failed write to all waiting callers, and continues", async () => {
  const { journal, reports, pendingWrites } = start({ isHeld: true });
  const lostNotes = ["a", "b"].map((key) => journal.note("run", event(key), 0).then(null, (error: Error) => error.message));
  while (pendingWrites.length === 0) await new Promise((resolve) => setImmediate(resolve));
  pendingWrites[0]!.fail();
  expect(await Promise.all(lostNotes)).toEqual(["the database is away", "the database is away"]);
  const next = journal.note("run", event("c"), LONG_MS);
  const flushed = journal.flush();
  while (pendingWrites.length === 1) await new Promise((resolve) => setImmediate(resolve));
  pendingWrites[1]!.pass();
  await flushed;
  await next;
  expect(reports).toEqual([["c"]]);
});
