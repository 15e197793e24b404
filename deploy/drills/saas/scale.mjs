import { createRequire } from "node:module";
import { pause, readLocal } from "../support/platform.mjs";

/**
 * Thousands of customers under one default budget. Each value has a counter of its own, so the account's document must stay small, and no
 * value can spend more than its budget, however many of its runs start at once.
 */

const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const gateway = createRequire(new URL("../../../gateway/package.json", import.meta.url));
const { mongo } = platform("mongoose");
const { createGrpcClient } = gateway("@nodeloom/platform");
const { billing } = gateway("@nodeloom/proto");

const VALUES = Number(process.env.SAAS_VALUES ?? 20_000);
const AT_ONCE = 100;
const PARALLEL = 200;
/** Credits per customer and month, of the customer with parallel runs. */
const BUDGET = 100;
const MILLICREDITS = 1_000;
const HELD_MILLICREDITS = 10;
const CHARGED_MILLICREDITS = 5;
/** The account may differ by the digits of its sums, which grow. */
const MARGIN_BYTES = 256;
const LOOK_MS = 500;
const DEADLINE_MS = 60_000;
const SECOND_MS = 1_000;
const EMPTY_MS = 60_000;

/** @typedef {import("./company.mjs").Company} Company */
/** @typedef {import("../support/run-drill.mjs").Drill} Drill */

/** Bytes of an account's document: without the rows that it still owes to the ledger, and with them. @param {any} accounts @param {string} userId */
const bytesOf = async (accounts, userId) => {
  const { outbox, ...account } = await accounts.findOne({ _id: userId });
  return {
    own: mongo.BSON.calculateObjectSize(account),
    whole: mongo.BSON.calculateObjectSize({ ...account, outbox }),
    owed: outbox?.length ?? 0,
  };
};

/** @param {any} accounts @param {string} userId */
const bytesAtRest = async (accounts, userId) => {
  for (const end = Date.now() + EMPTY_MS; Date.now() < end; await pause(LOOK_MS)) {
    const bytes = await bytesOf(accounts, userId);
    if (bytes.owed === 0) return bytes.own;
  }
  throw new Error("the account's outbox isn't empty after a minute");
};

/** One hold and its settlement for each of many customers. @param {{ address: string, userId: string, mark: string, accounts: any }} options */
const holdForEach = async ({ address, userId, mark, accounts }) => {
  const client = createGrpcClient(billing.BillingServiceService, { address });
  const options = { deadlineMs: DEADLINE_MS };
  let [next, largest, isOver] = [0, 0, false];
  const watch = async () => {
    for (; !isOver; await pause(LOOK_MS)) largest = Math.max(largest, (await bytesOf(accounts, userId)).whole);
  };
  const watching = watch();
  const work = async () => {
    for (let number = next++; number < VALUES; number = next++) {
      const executionId = `scale-${mark}-${number}`;
      const items = [{ key: "a", model: "sandbox-image", maxMillicredits: HELD_MILLICREDITS }];
      const subject = { keyId: "", workflowSlug: "", metadata: { customer: `scale-${mark}-${number}` } };
      await client.hold(billing.HoldRequest.fromPartial({ executionId, userId, items, subject }), options);
      const charged = [{ key: "a", captureMillicredits: CHARGED_MILLICREDITS }];
      await client.settle(billing.SettleRequest.fromPartial({ executionId, userId, items: charged }), options);
    }
  };
  const startedAt = Date.now();
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    isOver = true;
    await watching;
    client.close();
  }
  return { seconds: (Date.now() - startedAt) / SECOND_MS, largest };
};

/** 200 runs of one customer at once. @param {Company} company @param {Drill["check"]} check */
const runInParallel = async (company, check) => {
  const customer = `busy-${company.mark}`;
  const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, number) => company.run(customer, `card ${number}`)));
  const completedRuns = answers.filter(({ status }) => status === 200);
  const refusedRuns = answers.filter(({ body }) => body?.code === "BUDGET_EXCEEDED");
  const [{ used }] = await company.by(200, "GET", `/api/budgets?name=customer&value=${customer}`);
  const price = used / completedRuns.length;
  const text = `${completedRuns.length} completed, ${refusedRuns.length} refused, ${used} of ${BUDGET} credits used`;
  check(
    [`${PARALLEL} parallel runs of one customer stay within the budget`, completedRuns.length > 0 && used <= BUDGET, text],
    ["every other run is refused for the budget", completedRuns.length + refusedRuns.length === PARALLEL, text],
    ["the budget is used up to the last run that fits", used + price > BUDGET, `a run costs ${price.toFixed(2)} credits`],
  );
};

/** @param {{ company: Company, userId: string, address: string, drill: Pick<Drill, "check" | "say"> }} options */
export const scale = async ({ company, userId, address, drill: { check, say } }) => {
  await company.by(200, "PUT", "/api/budgets", { metadata: { name: "customer", value: "*" }, credits: BUDGET, window: "month" });
  const client = new mongo.MongoClient(readLocal().mongoUri);
  try {
    const { databases } = await client.db().admin().listDatabases();
    const database = databases.find((/** @type {{ name: string }} */ { name }) => name.endsWith("billing"))?.name;
    const accounts = client.db(database).collection("accounts");
    const counters = client.db(database).collection("counters");
    const before = await bytesAtRest(accounts, userId);
    const { seconds, largest } = await holdForEach({ address, userId, mark: company.mark, accounts });
    const after = await bytesAtRest(accounts, userId);
    say(
      `${VALUES} customers in ${seconds.toFixed(0)} s; the account had ${before} bytes before, at most ${largest} meanwhile, ${after} after`,
    );
    const own = { userId, value: { $regex: `^scale-${company.mark}-` } };
    const wrong = await counters.countDocuments({
      ...own,
      $or: [{ used: { $ne: CHARGED_MILLICREDITS } }, { "reservations.0": { $exists: true } }],
    });
    const counted = await counters.countDocuments(own);
    check(
      [`the account doesn't grow with ${VALUES} customers`, after <= before + MARGIN_BYTES, `${before} bytes before, ${after} after`],
      ["each customer's use is counted once", counted === VALUES && wrong === 0, `${counted} counters, ${wrong} differ`],
    );
    await runInParallel(company, check);
    const overspent = await counters.countDocuments({ userId, used: { $gt: BUDGET * MILLICREDITS } });
    check(["no customer's budget is exceeded", overspent === 0, `${overspent} of ${await counters.countDocuments({ userId })}`]);
  } finally {
    await client.close();
  }
};
