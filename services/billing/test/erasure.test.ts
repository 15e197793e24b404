import { createBilling, type Billing } from "../src/billing";
import { logger, ownStore, type OwnStore } from "./support/database";

const userId = "leaving";
const OTHER = "staying";
const deadline = (): number => Date.now() + 30_000;

let own: OwnStore;
let billing: Billing;
beforeAll(async () => {
  own = await ownStore();
  billing = createBilling({ store: own.store, logger });
});
afterAll(async () => {
  await billing.stop();
  await own.stop();
});

const live = async (user: string): Promise<void> => {
  await billing.setPlan({ userId: user, tier: "pro", monthlyMillicredits: 1_000, trials: [], reference: "r" }, deadline());
  await billing.credit({ userId: user, credit: { kind: "topup", millicredits: 500 }, note: "for Ada", reference: "paid" }, deadline());
  const items = [{ key: "ada-node:0", model: "painter", maxMillicredits: 400 }];
  const subject = { keyId: "ada-key", workflowSlug: "ada-slug", metadata: {} };
  await billing.hold({ userId: user, executionId: "1", items, maxActive: 0, subject }, deadline());
  const captured = [{ key: "ada-node:0", captureMillicredits: 150, consumeGrant: false }];
  await billing.settle({ userId: user, executionId: "1", items: captured, captureAll: false }, deadline());
  await billing.setBudget(
    { userId: user, scope: { type: "key", name: "", value: "ada-key" }, millicredits: 1_000, window: "month", alertAt: [1] },
    deadline(),
  );
  await billing.hold({ userId: user, executionId: "lost", items, maxActive: 0, subject }, deadline());
};
const eraseAll = async (): Promise<void> => {
  let cursor = "";
  do ({ nextCursor: cursor } = await billing.erase(userId, cursor));
  while (cursor !== "");
};

it("keeps amounts and ids of an erased account, which balances, gets no more credits and can't be charged again", async () => {
  await live(userId);
  await live(OTHER);
  await eraseAll();
  await eraseAll();
  const documents = await Promise.all(["accounts", "ledger"].map((name) => own.connection.collection(name).find({}).toArray()));
  const remainder = JSON.stringify(documents.flat().filter(({ _id, userId: of }) => [of, String(_id)].includes(userId)));
  expect(remainder).not.toContain("ada");
  expect(remainder).not.toContain("Ada");
  expect(JSON.stringify(documents)).toContain("for Ada");
  const account = await billing.account({ userId });
  expect(account).toMatchObject({ plan: 850, topUp: 500, held: 0, holds: [], budgets: [], budgetAlerts: [], tier: null, renewsAt: null });
  expect(await billing.checkLedger({ cursor: "", full: true }, deadline())).toMatchObject({ accounts: 2, mismatches: [] });
  const late = {
    userId,
    executionId: "1",
    items: [{ key: "ada-node:0", captureMillicredits: 400, consumeGrant: false }],
    captureAll: false,
  };
  await billing.settle(late, deadline());
  expect(await billing.account({ userId })).toMatchObject({ plan: 850, topUp: 500 });
  expect((await billing.budgets({ userId: OTHER })).length).toBe(1);
});
