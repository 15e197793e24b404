/**
 * `npm run drill saas`: plays a company that sells a workflow to customers. A person creates a service account and its first key. From then
 * on, everything happens by that key: a budget for each customer, a deploy to staging, tests, a promotion, runs for 50 customers, the cost
 * of each, a rollback, the erasure of one customer, and a new key. Then it counts 20,000 customers under one default budget
 * (`SAAS_VALUES`), and starts 200 runs of one at once. It affects only processes that it started.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../local/servers/ports.cjs";
import { createApi, expecting } from "../support/api.mjs";
import { readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { searchMongo } from "../support/stores.mjs";
import { createCompany } from "./company.mjs";
import { scale } from "./scale.mjs";

export const DRILL = {
  sentence:
    "plays a company with 50 customers by one service account's key: budgets, deploy, tests, promotion, costs, rollback, erasure; then 20,000 customers under one budget",
  minutes: 3,
};

/** @typedef {import("./company.mjs").Company} Company */
/** @typedef {import("../support/run-drill.mjs").Drill["check"]} Record */

const CUSTOMERS = Number(process.env.SAAS_CUSTOMERS ?? 50);
const RUNS_EACH = 2;
const AT_ONCE = 5;
const CREDITS = 2_000;
/** For each customer and month. */
const BUDGET = 20;
const ERASED_MS = 120_000;
const LOOK_MS = 1_000;
const CENT = 0.001;

/** @template T @param {readonly T[]} items @param {(item: T) => Promise<void>} work */
const each = async (items, work) => {
  const remaining = [...items];
  const worker = async () => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** Deploys, tests and promotes the first version. @param {Company} company @param {Record} check */
const launch = async (company, check) => {
  const deployed = await company.deploy("woodcut");
  check(["a bundle is deployed to staging", deployed.code === 0 && (await company.version("staging")) === 1, deployed.last]);
  const tested = await company.cli("test", company.slug, "--alias", "staging");
  check(["the tests of staging pass", tested.code === 0, tested.last]);
  await company.by(200, "PUT", `/api/workflows/${company.slug}/aliases/production`, { version: 1, requireTests: true });
  check(["production is version 1, and requires tests", (await company.version("production")) === 1, ""]);
};

/** Runs the workflow for every customer, and compares bills. @param {Company} company @param {readonly string[]} names @param {Record} check */
const sell = async (company, names, check) => {
  /** @type {Map<string, number>} */
  const paidCredits = new Map();
  await each(names, async (name) => {
    for (let runCount = 0; runCount < RUNS_EACH; runCount += 1) {
      const { status, headers, body } = await company.run(name, `birthday ${runCount}`);
      if (status !== 200) throw new Error(`a run for ${name} was answered ${status}: ${JSON.stringify(body)}`);
      const { creditsCost } = await company.by(200, "GET", `/api/executions/${headers.get("x-execution-id")}`);
      paidCredits.set(name, (paidCredits.get(name) ?? 0) + creditsCost);
    }
  });
  const isPaid = (/** @type {string} */ name, /** @type {number} */ credits) => Math.abs(credits - (paidCredits.get(name) ?? 0)) < CENT;
  const { groups } = await company.by(200, "GET", "/api/usage/summary?groupBy=metadata.customer");
  const wrong = names.filter((name) => {
    const group = groups.find((/** @type {{ group: string }} */ one) => one.group === name);
    return group?.runs !== RUNS_EACH || !isPaid(name, group.creditsCost);
  });
  check(["usage has the runs and the cost of each customer", wrong.length === 0, `${names.length} customers, ${wrong.length} differ`]);
  const [first = "", second = ""] = names;
  const [{ used }] = await company.by(200, "GET", `/api/budgets?name=customer&value=${first}`);
  check(["the default budget counts for each", isPaid(first, used), `${first} used ${used} credits`]);
  // Less than a run costs.
  await company.by(200, "PUT", "/api/budgets", { metadata: { name: "customer", value: second }, credits: 1, window: "month" });
  const over = await company.run(second, "birthday");
  check(["a customer's own budget replaces the default", over.body.code === "BUDGET_EXCEEDED", over.body.error ?? ""]);
};

/** A version that fails its tests, one that passes, and a rollback. @param {Company} company @param {Record} check */
const improve = async (company, check) => {
  await company.deploy("");
  const failing = await company.cli("test", company.slug, "--alias", "staging");
  const promotion = await company.cli("promote", company.slug, "--from", "staging");
  const isKept = failing.code !== 0 && promotion.code !== 0 && (await company.version("production")) === 1;
  check(["a version that fails its tests isn't promoted", isKept, promotion.last]);
  await company.deploy("linocut");
  await company.cli("test", company.slug, "--alias", "staging");
  const promoted = await company.cli("promote", company.slug, "--from", "staging");
  check(["a version that passes is promoted", promoted.code === 0 && (await company.version("production")) === 3, promoted.last]);
  await company.by(200, "PUT", `/api/workflows/${company.slug}/aliases/production`, { version: 1 });
  check(["one request rolls back", (await company.version("production")) === 1, ""]);
};

/** @param {Company} company @param {string} removedName @param {string} other a customer who stays @param {Record} check */
const erase = async (company, removedName, other, check) => {
  const { erasureId } = await company.by(202, "POST", "/api/erasures", { metadata: { name: "customer", value: removedName } });
  const end = Date.now() + ERASED_MS;
  let state = "";
  while (state !== "completed" && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    ({ state } = await company.by(200, "GET", `/api/erasures/${erasureId}`));
  }
  /** @type {Set<string>} */
  const places = new Set();
  let control = 0;
  await searchMongo(readLocal().mongoUri, (place, content) => {
    const bytes = Buffer.from(content);
    if (bytes.includes(removedName)) places.add(place);
    if (bytes.includes(other)) control += 1;
  });
  check(
    ["an erased customer is in no database", state === "completed" && places.size === 0, [...places].join(", ")],
    ["the search finds another customer", control > 0, `${control} documents`],
  );
};

await runDrill("saas", async ({ say, check, atEnd }) => {
  const address = `127.0.0.1:${await freePort()}`;
  const platform = await startPlatform({ BILLING_LISTEN: address });
  atEnd(platform.stop);
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-saas-"));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const { accounts } = readLocal();
  const api = createApi(() => readLocal().baseUrl);
  const expect = expecting(api.call);
  const asAdmin = { key: accounts.admin.apiKey };
  await api.grant(accounts, accounts.enterprise.userId, CREDITS);

  const company = await createCompany({ api, account: accounts.enterprise, folder });
  say("a person created the service account and its first key; the rest is done by this key");
  await company.by(200, "PUT", "/api/budgets", { metadata: { name: "customer", value: "*" }, credits: BUDGET, window: "month" });
  const names = Array.from({ length: CUSTOMERS }, (_, index) => `customer-${company.mark}-${String(index).padStart(3, "0")}`);
  await launch(company, check);
  await sell(company, names, check);
  await improve(company, check);
  await erase(company, names[2] ?? "", names[3] ?? "", check);
  await scale({ company, userId: accounts.enterprise.userId, address, drill: { check, say } });
  check(["the key replaces itself", await company.replaceKey(), "the old one gets 401"]);
  const { body } = await expect(200, "GET", "/api/admin/ledger/check", asAdmin);
  check(["the ledger agrees", body.ok === true, ""]);
});
