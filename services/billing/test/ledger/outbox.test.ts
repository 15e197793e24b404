import { createLogger } from "@nodeloom/platform";
import type { LedgerRow } from "../../src/account/movement";
import { createOutbox } from "../../src/ledger/outbox";

const rowOf = (id: string, part: Partial<LedgerRow> = {}): LedgerRow => ({ id, userId: "user", ...part }) as LedgerRow;

const recording = () => {
  const appended: string[][] = [];
  const store = {
    appendRows: (rows: readonly LedgerRow[]): Promise<void> => Promise.resolve(void appended.push(rows.map(({ id }) => id))),
    settleReservations: (): Promise<void> => Promise.resolve(),
    dropFromOutbox: (): Promise<void> => Promise.resolve(),
  };
  return { appended, outbox: createOutbox({ store: store as never, logger: createLogger("test", "silent") }) };
};

it("moves the rows of commits that follow each other with one write, and all of them before it stops", async () => {
  const { appended, outbox } = recording();
  const drained: string[] = [];
  for (const id of ["hold", "capture"]) {
    outbox.add([rowOf(id)], (row) => drained.push(row.id));
    await new Promise(setImmediate);
  }
  expect(appended).toEqual([]);
  await outbox.stop();
  expect(appended).toEqual([["hold", "capture"]]);
  expect(drained).toEqual(["hold", "capture"]);
});

it("moves many rows at once, so that accounts stay small", async () => {
  const { appended, outbox } = recording();
  outbox.add(
    Array.from({ length: 300 }, (_, index) => rowOf(String(index))),
    () => undefined,
  );
  await new Promise(setImmediate);
  expect(appended.map(({ length }) => length)).toEqual([256]);
  await outbox.stop();
  expect(appended.flat()).toHaveLength(300);
});
