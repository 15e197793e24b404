import { createAwaitDelivered, type EndedRow } from "../../src/record/runs/channel";
import { newRecord } from "../support";
import { localChannel } from "../support/local-channel";

const settled = { type: "settled", at: 0, data: {} };
const endedRow = (part: Partial<EndedRow> = {}): EndedRow =>
  newRecord("user", { status: "completed", finishedAt: new Date(), outbox: ["usage"], ...part });

/** @param stored the row in the store at that time */
const readerOf = (row: EndedRow, stored: EndedRow = row) => {
  const channel = localChannel();
  const find = jest.fn(() => Promise.resolve(stored));
  const wait = createAwaitDelivered({ stores: { rows: { find } } as never, channel });
  return { channel, find, waited: wait(row) };
};

it("waits for the process that wrote an end to deliver it", async () => {
  const row = endedRow();
  const { channel, waited } = readerOf(row);
  let isOver = false;
  void waited.then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  channel.publish(row._id, settled);
  await waited;
});

it("doesn't wait for an end that was delivered since it was read", async () => {
  const row = endedRow();
  await readerOf(row, { ...row, outbox: ["webhook"] }).waited;
});

it.each<[string, Partial<EndedRow>]>([
  ["is under way", { status: "processing", finishedAt: null }],
  ["ended long ago", { finishedAt: new Date(0) }],
  ["has only its webhook to send", { outbox: ["webhook"] }],
])("looks up nothing for a run that %s", async (_, part) => {
  const { find, waited } = readerOf(endedRow(part));
  await waited;
  expect(find).not.toHaveBeenCalled();
});

it("shows an end after a second even if its delivery failed", async () => {
  const before = performance.now();
  await readerOf(endedRow()).waited;
  expect(performance.now() - before).toBeGreaterThanOrEqual(990);
});
