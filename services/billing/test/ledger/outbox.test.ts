import { createLogger } from "@nodeloom/platform";
import { deferred } from "../../../platform/test/support/deferred";
import type { LedgerRow } from "../../src/account/movement";
import { createOutbox } from "../../src/ledger/outbox";

const FLUSH_DELAY_MS = 100;
const PROMPT_ROWS = 64;

const rowsOf = (name: string, count = 1): LedgerRow[] =>
  Array.from({ length: count }, (_, index): LedgerRow => ({
    ...{ id: `${name}-${index}`, userId: "u", sequence: index, kind: "topup", at: new Date(0) },
    ...{ millicredits: 1, movedMillicredits: 0, runs: 0 },
  }));

/** An outbox whose first append waits for a door. */
const gatedOutbox = () => {
  const { promise: opened, resolve: open } = deferred();
  const appended: string[][] = [];
  const store = {
    appendRows: async (rows: readonly LedgerRow[]): Promise<void> => {
      appended.push(rows.map(({ id }) => id));
      if (appended.length === 1) await opened;
    },
    dropFromOutbox: () => Promise.resolve(),
    findOutboxes: () => Promise.resolve([]),
    load: () => Promise.resolve(undefined),
  };
  return { outbox: createOutbox({ store, logger: createLogger("billing-test", "silent"), clock: () => new Date() }), open, appended };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it("goes on draining after rows of a later time have left with earlier ones", async () => {
  const { outbox, open, appended } = gatedOutbox();
  outbox.add(rowsOf("first"), () => undefined);
  await jest.advanceTimersByTimeAsync(FLUSH_DELAY_MS);
  // Its time comes after its rows have been taken along by the work that is under way.
  outbox.add(rowsOf("second"), () => undefined);
  open();
  await jest.advanceTimersByTimeAsync(FLUSH_DELAY_MS);
  outbox.add(rowsOf("third"), () => undefined);
  await jest.advanceTimersByTimeAsync(FLUSH_DELAY_MS);
  expect(appended).toEqual([["first-0"], ["second-0"], ["third-0"]]);
});

it("drains many rows at once that came while others were on their way", async () => {
  const { outbox, open, appended } = gatedOutbox();
  outbox.add(rowsOf("first", PROMPT_ROWS), () => undefined);
  outbox.add(rowsOf("second", PROMPT_ROWS), () => undefined);
  open();
  await jest.advanceTimersByTimeAsync(0);
  expect(appended.map((ids) => ids.length)).toEqual([PROMPT_ROWS, PROMPT_ROWS]);
});
