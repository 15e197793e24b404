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

it("lists holds that are open for some time, account by account, and none that is closed or young", async () => {
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
