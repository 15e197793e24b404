import { createBilling } from "../src/billing";
import { logger, ownStore, type OwnStore } from "./support/database";

const START = new Date("2026-01-10T12:00:00Z");
const MINUTE = 60_000;

let own: OwnStore;
let now = START;
beforeEach(async () => {
  own = await ownStore();
  now = START;
});
afterEach(() => own.stop());

it("lists holds that have been open for some time, account by account, and no closed or recent ones", async () => {
  const billing = createBilling({ store: own.store, logger, clock: () => now });
  const deadline = Date.now() + 10_000;
  const hold = async (userId: string, executionId: string): Promise<void> => {
    await billing.hold({ userId, executionId, items: [{ key: "a:0", model: "m", maxMillicredits: 5 }], maxActive: 0 }, deadline);
  };
  const users = ["u1", "u2", "u3"];
  for (const userId of users) {
    await billing.credit({ userId, credit: { kind: "topup", millicredits: 100 }, note: "", reference: userId }, deadline);
    await hold(userId, `${userId}-old.1`);
    await hold(userId, `${userId}-closed.1`);
    await billing.settle({ userId, executionId: `${userId}-closed.1`, items: [], captureAll: false }, deadline);
  }
  now = new Date(START.getTime() + 10 * MINUTE);
  for (const userId of users) await hold(userId, `${userId}-young.1`);
  const page = await billing.openHolds({ olderThanMs: 5 * MINUTE, limit: 2, cursor: "" });
  expect(page).toEqual({
    holds: ["u1", "u2"].map((userId) => ({ userId, executionId: `${userId}-old.1`, heldAt: START })),
    nextCursor: "u2",
  });
  expect(await billing.openHolds({ olderThanMs: 5 * MINUTE, limit: 2, cursor: "u2" })).toEqual({
    holds: [{ userId: "u3", executionId: "u3-old.1", heldAt: START }],
    nextCursor: "",
  });
});

const DEADLINE_MS = 10_000;
const items = [{ key: "a:0", model: "m", maxMillicredits: 5 }];
const settlement = (executionId: string) => ({
  userId: "u",
  executionId,
  items: [{ key: "a:0", captureMillicredits: 3, consumeGrant: false }],
  captureAll: false,
});

/** An account with credits and one closed execution, written by another process. */
const settledOnce = async (executionId: string) => {
  const billing = createBilling({ store: own.store, logger, clock: () => now });
  const deadline = Date.now() + DEADLINE_MS;
  await billing.credit({ userId: "u", credit: { kind: "topup", millicredits: 1_000 }, note: "", reference: "r" }, deadline);
  await billing.hold({ userId: "u", executionId, items, maxActive: 0 }, deadline);
  const settled = await billing.settle(settlement(executionId), deadline);
  await billing.stop();
  return settled;
};

it("keeps an account's document as small after many runs as after one", async () => {
  const accounts = own.connection.collection("accounts");
  // Rows leave the outbox later.
  const size = async (): Promise<number> =>
    JSON.stringify(await accounts.findOne({ _id: "u" } as object, { projection: { outbox: 0 } })).length;
  await settledOnce("e0.1");
  const before = await size();
  const billing = createBilling({ store: own.store, logger, clock: () => now });
  for (let run = 1; run <= 30; run += 1) {
    const deadline = Date.now() + DEADLINE_MS;
    await billing.hold({ userId: "u", executionId: `e${run}.1`, items, maxActive: 0 }, deadline);
    await billing.settle(settlement(`e${run}.1`), deadline);
  }
  await billing.stop();
  // Allows for numbers with one more digit.
  expect(await size()).toBeLessThan(before + 20);
});
