import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OUTGOING } from "@nodeloom/kernel";
import { TryAgain } from "../../src/calls/failures";
import { TIMING } from "../../src/run/timing";
import { openOutgoing } from "../support/index";

type Budget = Awaited<ReturnType<typeof openOutgoing>>;

const open: Budget[] = [];
const budgetOf = async (...options: Parameters<typeof openOutgoing>): Promise<Budget> => {
  const budget = await openOutgoing(...options);
  open.push(budget);
  return budget;
};
afterAll(() => open.forEach(({ stop }) => stop()));

const HOUR_MS = 3_600_000;
/** Result of a call: "made", or its error. */
const call = ({ outgoing }: Budget, url: string, userId = "u", waitMs = HOUR_MS): Promise<unknown> =>
  outgoing.call({ userId, baseTier: "pro" }, url, Date.now() + waitMs).then(
    () => "made",
    (error: unknown) => error,
  );
const madeCount = (outcomes: unknown[]): number => outcomes.filter((outcome) => outcome === "made").length;

it("is exact for a user and a host over all processes, under parallel calls", async () => {
  const prefix = `test:${randomUUID()}:outgoing`;
  const calls = { perMinute: 1_000, perHostPerMinute: 20 };
  const [one, two] = [await budgetOf({ calls }, prefix), await budgetOf({ calls }, prefix)];
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, n) => call(n % 2 === 0 ? one : two, `https://a.test:${8_000 + n}/${n}`)),
  );
  expect(madeCount(outcomes)).toBe(20);
  expect(await call(one, "https://b.test/")).toBe("made");
  expect(await call(one, "https://a.test/", "another")).toBe("made");
  // Names are compared without case.
  expect(await call(one, "https://A.test./")).toBeInstanceOf(TryAgain);
});

it("limits a user's calls to all hosts together, and counts no call that was not made", async () => {
  const budget = await budgetOf({ calls: { perMinute: 3, perHostPerMinute: 2 }, windowSeconds: 2 });
  const hosts = ["https://a.test/", "https://b.test/", "https://c.test/"];
  for (const host of hosts) expect(await call(budget, host)).toBe("made");
  const error = await call(budget, hosts[0]!, "u", 0);
  expect(error).toMatchObject({ message: expect.stringMatching(/^more than 3 outgoing calls a minute; try again at /) as string });
  for (let turn = 0; turn < 5; turn += 1) await call(budget, hosts[1]!);
  const later = (await call(budget, hosts[1]!)) as TryAgain;
  expect(later.problem.message).toMatch(/^more than 3 outgoing calls a minute;/);
});

it("gives each excess call a later window, and fails a call whose window is too late", async () => {
  const budget = await budgetOf({ calls: { perMinute: 1_000, perHostPerMinute: 10 } });
  for (let turn = 0; turn < 10; turn += 1) expect(await call(budget, "https://a.test/")).toBe("made");
  const waits: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) waits.push(((await call(budget, "https://a.test/")) as TryAgain).afterMs);
  expect(Math.max(...waits.slice(0, 10))).toBeLessThan(62_000);
  expect(Math.min(...waits.slice(10))).toBeGreaterThan(60_000);
  expect(await call(budget, "https://a.test/x?secret=1", "u", 1_000)).toMatchObject({
    kind: "failed",
    reason: "OUTGOING_LIMIT_EXCEEDED",
    message: expect.stringMatching(/^more than 10 outgoing calls a minute to a\.test; try again at \d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
  });
});

it("applies within a process while Redis is unavailable", async () => {
  const budget = await budgetOf({ calls: { perMinute: 1_000, perHostPerMinute: 5 } }, undefined, "redis://127.0.0.1:1");
  expect(madeCount(await Promise.all(Array.from({ length: 20 }, () => call(budget, "https://a.test/"))))).toBe(5);
  expect(await call(budget, "https://b.test/")).toBe("made");
});

it("ignores invalid addresses, which are rejected elsewhere, and files that are already stored", async () => {
  const budget = await budgetOf({ calls: { perMinute: 1, perHostPerMinute: 1 } });
  for (const reference of ["nowhere", "data:image/png;base64,AAAA", randomUUID()]) {
    expect(await call(budget, reference)).toBe("made");
    expect(await call(budget, reference)).toBe("made");
  }
});

it("lets every tier make the calls of a whole run to one host within a call's waiting time", () => {
  const CALLS_OF_A_RUN = 1_000;
  for (const { calls, webhooks } of Object.values(OUTGOING)) {
    expect((calls.perHostPerMinute * TIMING.outgoingWait) / TIMING.minute).toBeGreaterThanOrEqual(CALLS_OF_A_RUN);
    for (const budget of [calls, webhooks]) expect(budget.perHostPerMinute).toBeLessThanOrEqual(budget.perMinute);
  }
});

it("is in the guide with the table's numbers", () => {
  const guide = readFileSync(join(__dirname, "../../../../docs/guide/limits.md"), "utf8");
  for (const [tier, { calls, webhooks }] of Object.entries(OUTGOING)) {
    const row = [calls, webhooks].flatMap(({ perMinute, perHostPerMinute }) => [perMinute, perHostPerMinute]);
    const cells = [tier, ...row.map((count) => count.toLocaleString("en-GB"))];
    expect(guide).toMatch(new RegExp(`\\| ${cells.join(" +\\| +")} +\\|`));
  }
});
