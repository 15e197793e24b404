import { unavailable } from "@nodeloom/kernel";
import { createLogger } from "@nodeloom/platform";
import { createOutbox, type OutboxOptions } from "../../src/lifecycle/outbox";
import type { ExecutionView } from "../../src/run/record";
import { newRecord } from "../support/index";

const outboxOf = (usage: () => Promise<void> = () => Promise.resolve()) => {
  const calls: string[] = [];
  const reports = {
    started: ({ executionId }: { executionId: string }) => usage().then(() => void calls.push(`started ${executionId}`)),
    finished: ({ run }: { run?: { executionId: string } | undefined }) =>
      usage().then(() => void calls.push(`finished ${run!.executionId}`)),
  };
  const stores = {
    rows: { clear: (row: ExecutionView, entries: readonly string[]) => Promise.resolve(void calls.push(`clear ${entries.join()}`)) },
  };
  const queue = { leave: () => Promise.resolve(void calls.push("leave")) };
  const outbox = createOutbox({ reports, stores, queue, logger: createLogger("test", "silent") } as unknown as OutboxOptions);
  return { outbox, calls };
};
const endedRow = newRecord("user", { _id: "a", status: "completed", outbox: ["place:1", "usage"] });

it("delivers an end and clears it before any reader sees it", async () => {
  const { outbox, calls } = outboxOf();
  expect((await outbox.deliverFirst(endedRow)).outbox).toEqual([]);
  expect(calls).toEqual(["leave", "finished a", "clear place:1,usage"]);
});

it("clears delivered entries, and leaves the rest to the sweeper", async () => {
  const { outbox, calls } = outboxOf(() => Promise.reject(unavailable("usage is away")));
  expect(await outbox.deliver(endedRow)).toBe(false);
  expect(calls).toEqual(["leave", "clear place:1"]);
});

it("waits at most half a second for a delivery, and again when its process stops", async () => {
  jest.useFakeTimers();
  let deliver: () => void = () => undefined;
  const { outbox, calls } = outboxOf(() => new Promise((resolve) => (deliver = resolve)));
  const delivery = outbox.deliverFirst(endedRow);
  await jest.advanceTimersByTimeAsync(500);
  expect((await delivery).outbox).toEqual(endedRow.outbox);
  jest.useRealTimers();
  const drained = outbox.drain();
  deliver();
  await drained;
  expect(calls).toContain("clear place:1,usage");
});

it("creates the usage row of a running run", async () => {
  const { outbox, calls } = outboxOf();
  await outbox.deliverFirst({ ...endedRow, status: "processing", outbox: ["usage"] });
  expect(calls).toEqual(["started a", "clear usage"]);
});
