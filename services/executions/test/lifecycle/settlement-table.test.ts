import { randomUUID } from "node:crypto";
import { billing as billingProto } from "@nodeloom/proto";
import type { CompletedCall, FinalStatus, RunEnd, RunError, RunInput } from "../../src/run/types";
import { abandonedEnd } from "../../src/lifecycle/abandon";
import { createEnd } from "../../src/lifecycle/end";
import { initialNodes } from "../../src/run/nodes";
import { deferred } from "../../../../test-support/deferred";
import { eventually } from "../../../../test-support/eventually";
import { createExecution } from "../../src/lifecycle/execution";
import { runOf, startMoney, type Money } from "../support/money";

/**
 * The complete settlement table: every end of a run and every way of payment, awaited or not, through the real billing and usage. Receipts
 * of nodes, usage row and ledger must agree.
 */

const { CREDIT_KIND_GRANT, CREDIT_KIND_PLAN, CREDIT_KIND_TOPUP } = billingProto.CreditKind;
/** Two calls of a painter and one of a singer, held at 3 and 2 credits. */
const NODES = [
  { id: "pics", model: "painter", calls: 2, maxMillicredits: 3_000 },
  { id: "song", model: "singer", calls: 1, maxMillicredits: 2_000 },
];
const [PIC, SONG] = [20_000, 10_000];
const call = (key: string): CompletedCall => {
  const nodeId = key.split(":")[0]!;
  return { key, nodeId, costMicroUsd: nodeId === "pics" ? PIC : SONG };
};
const failed = (code: RunError["code"]): RunError => ({ code, message: "x", nodeId: "song" });

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stopBalanced());

interface Funds {
  plan: number;
  topUp: number;
  painter: number;
  singer: number;
}
/** Funds, and the hold of each call in [pics:0, pics:1, song:0]; 0 if a grant pays. */
const FUNDS: Record<string, { funds: Funds; held: [number, number, number] }> = {
  "plan credits": { funds: { plan: 9_000, topUp: 0, painter: 0, singer: 0 }, held: [3_000, 3_000, 2_000] },
  "top-up credits": { funds: { plan: 0, topUp: 9_000, painter: 0, singer: 0 }, held: [3_000, 3_000, 2_000] },
  "trial grants": { funds: { plan: 50, topUp: 60, painter: 2, singer: 3 }, held: [0, 0, 0] },
  "a grant, then plan, then top-up": { funds: { plan: 4_000, topUp: 1_500, painter: 1, singer: 0 }, held: [0, 3_000, 2_000] },
};

interface Outcome {
  workflowStatus: FinalStatus;
  error: RunError | null;
  completed: string[];
  /** A cancellation was accepted before the end. */
  cancelled?: boolean;
  /** Status of the row, if it isn't the usual one. */
  status?: FinalStatus;
  /** Calls submitted without an end. */
  underWay?: string[];
  /** Calls that are paid, by captured credits or used grants: completed calls at their cost, and unfinished ones at their hold. */
  paid: "submitted" | "completed" | "none";
}
const OUTCOMES: Record<string, Outcome> = {
  completed: { workflowStatus: "completed", error: null, completed: ["pics:0", "pics:1", "song:0"], paid: "completed" },
  "completed, with a list shorter than expected": {
    workflowStatus: "completed",
    error: null,
    completed: ["pics:0", "song:0"],
    paid: "completed",
  },
  "EXECUTION_FAILED after some": {
    workflowStatus: "failed",
    error: failed("EXECUTION_FAILED"),
    completed: ["pics:0", "pics:1"],
    paid: "completed",
  },
  "EXECUTION_FAILED before any": { workflowStatus: "failed", error: failed("EXECUTION_FAILED"), completed: [], paid: "none" },
  "PROVIDER_SUBMIT_FAILED after some": {
    workflowStatus: "failed",
    error: failed("PROVIDER_SUBMIT_FAILED"),
    completed: ["pics:1"],
    paid: "completed",
  },
  "PROVIDER_SUBMIT_FAILED at once": { workflowStatus: "failed", error: failed("PROVIDER_SUBMIT_FAILED"), completed: [], paid: "none" },
  "PROVIDER_RESPONSE_INCOMPLETE after some": {
    workflowStatus: "failed",
    error: failed("PROVIDER_RESPONSE_INCOMPLETE"),
    completed: ["pics:0", "pics:1"],
    paid: "none",
  },
  "not done in time": { workflowStatus: "failed", error: failed("EXECUTION_FAILED"), completed: ["pics:0"], paid: "completed" },
  "cancelled before anything was submitted": {
    workflowStatus: "cancelled",
    error: null,
    completed: [],
    cancelled: true,
    paid: "submitted",
  },
  "cancelled after some": { workflowStatus: "cancelled", error: null, completed: ["pics:0"], cancelled: true, paid: "submitted" },
  "cancelled with some under way": {
    workflowStatus: "cancelled",
    error: null,
    completed: ["pics:0"],
    underWay: ["song:0"],
    cancelled: true,
    paid: "submitted",
  },
  "cancelled from Temporal's own tools": {
    workflowStatus: "cancelled",
    error: null,
    completed: [],
    underWay: ["pics:1"],
    paid: "submitted",
  },
  "cancelled when everything was done": {
    workflowStatus: "completed",
    error: null,
    completed: ["pics:0", "pics:1", "song:0"],
    cancelled: true,
    status: "cancelled",
    paid: "submitted",
  },
  "cancelled when it had failed": {
    workflowStatus: "failed",
    error: failed("PROVIDER_RESPONSE_INCOMPLETE"),
    completed: ["pics:0"],
    cancelled: true,
    status: "cancelled",
    paid: "submitted",
  },
};

const fund = async ({ plan, topUp, painter, singer }: Funds): Promise<string> => {
  const userId = randomUUID();
  const credit = (part: Partial<billingProto.CreditRequest>) =>
    money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, reference: randomUUID(), ...part }));
  if (plan > 0) await credit({ kind: CREDIT_KIND_PLAN, millicredits: plan });
  if (topUp > 0) await credit({ kind: CREDIT_KIND_TOPUP, millicredits: topUp });
  if (painter > 0) await credit({ kind: CREDIT_KIND_GRANT, model: "painter", runs: painter });
  if (singer > 0) await credit({ kind: CREDIT_KIND_GRANT, model: "singer", runs: singer });
  return userId;
};

const endOf = (input: RunInput, { workflowStatus, error, completed, underWay = [] }: Outcome): RunEnd => ({
  status: workflowStatus,
  result: workflowStatus === "completed" ? {} : null,
  error,
  requestId: null,
  nodes: initialNodes(input.plan),
  completed: completed.map(call),
  underWay,
});

/** Expected balances, computed only from the settlement table. */
const expected = (funds: Funds, holds: [number, number, number], { completed, underWay = [], paid }: Outcome) => {
  const keys = ["pics:0", "pics:1", "song:0"];
  const isUnderWay = (key: string): boolean => paid === "submitted" && underWay.includes(key);
  const isPaid = (key: string): boolean => paid !== "none" && (completed.includes(key) || isUnderWay(key));
  const price = (key: string, index: number): number => {
    if (!isPaid(key) || holds[index] === 0) return 0;
    return isUnderWay(key) ? holds[index]! : key === "song:0" ? 1_500 : 3_000;
  };
  const prices = keys.map(price);
  const total = prices.reduce((sum, one) => sum + one, 0);
  const used = (model: string): number =>
    keys.filter((key, index) => holds[index] === 0 && isPaid(key) && key.startsWith(model === "painter" ? "pics" : "song")).length;
  const fromPlan = Math.min(funds.plan, total);
  return {
    total,
    nodes: [
      ["pics", prices[0]! + prices[1]!],
      ["song", prices[2]!],
    ],
    account: {
      planMillicredits: funds.plan - fromPlan,
      topUpMillicredits: funds.topUp - (total - fromPlan),
      heldMillicredits: 0,
      activeHolds: 0,
    },
    grants: { painter: funds.painter - used("painter"), singer: funds.singer - used("singer") },
    grantUsed: used("painter") + used("singer") > 0,
  };
};

const usageRow = async (userId: string) => {
  const rows = await money.usageRows(userId);
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
};

describe.each(Object.entries(FUNDS))("a run paid by %s", (_, { funds, held }) => {
  const check = async (outcome: Outcome, mode: RunInput["mode"]): Promise<void> => {
    const input = runOf(await fund(funds), NODES, { mode });
    const { userId, executionId } = input;
    const { held: heldItems = [] } = await money.begin(input);
    expect(heldItems.map(({ millicredits }) => millicredits)).toEqual(held);
    if (outcome.cancelled) {
      const requested = { key: "cancel_requested", type: "cancel_requested", at: new Date(), data: {} };
      expect(await money.stores.rows.requestCancel(executionId, userId, requested)).not.toBeNull();
    }
    const want = expected(funds, held, outcome);
    const status = outcome.status ?? outcome.workflowStatus;
    const settle = () => money.settle({ ...input, held: heldItems }, endOf(input, outcome));
    expect(await settle()).toEqual({ status, millicredits: want.total });
    // Settling again returns the same result and moves nothing.
    expect(await settle()).toEqual({ status, millicredits: want.total });

    const { account } = await money.billing.getAccount({ userId });
    expect(account).toMatchObject(want.account);
    const grants = Object.fromEntries(account!.grants.map(({ model, remaining }) => [model, remaining]));
    expect({ painter: 0, singer: 0, ...grants }).toEqual(want.grants);
    const { rows } = await money.billing.listLedger({ userId, limit: 100, cursor: "" });
    const captures = rows.filter((row) => row.kind === "capture");
    expect(captures.reduce((sum, row) => sum + row.millicredits, 0) + want.total).toBe(0);
    expect(captures.length).toBeLessThanOrEqual(1);
    const released = rows.filter((row) => row.kind === "release").reduce((sum, row) => sum + row.movedMillicredits, 0);
    expect(released).toBe(held[0] + held[1] + held[2] - want.total);

    const record = (await money.stores.rows.find(executionId))!;
    expect(record).toMatchObject({ status, millicredits: want.total, grantUsed: want.grantUsed });
    expect(record.nodes.map(({ id, millicredits }) => [id, millicredits])).toEqual(want.nodes);
    const row = (await usageRow(userId))!;
    const errorCode = status === "failed" ? outcome.error!.code : undefined;
    expect(row).toMatchObject({ status, millicredits: want.total, userCostMicroUsd: want.total * 10 });
    expect(row.errorCode).toBe(errorCode);
    // Includes the wholesale price of calls paid by grants.
    const byGrants = outcome.completed.filter((key) => held[["pics:0", "pics:1", "song:0"].indexOf(key)] === 0 && outcome.paid !== "none");
    const wholesale = Math.round((want.total * 10) / 1.5) + byGrants.reduce((sum, key) => sum + call(key).costMicroUsd, 0);
    expect(row.costMicroUsd).toBe(wholesale);
  };

  it.each(Object.entries(OUTCOMES))("%s", async (_name, outcome) => {
    await Promise.all([check(outcome, "sync"), check(outcome, "async")]);
  });
});

it("rejects a run that can't be held, and holds nothing for it", async () => {
  const userId = await fund({ plan: 7_999, topUp: 0, painter: 0, singer: 0 });
  await expect(money.begin(runOf(userId, NODES))).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
  await expect(money.begin(runOf(userId, NODES, { maxMillicredits: 7_000 }))).rejects.toMatchObject({
    reason: "INSUFFICIENT_CREDITS",
    metadata: { maxCredits: 7 },
  });
  expect(await usageRow(userId)).toBeUndefined();
  expect((await money.billing.getAccount({ userId })).account).toMatchObject({ planMillicredits: 7_999, heldMillicredits: 0 });
});

it("lets a run cost exactly its limit, and no more than its grants leave to pay", async () => {
  const exact = runOf(await fund({ plan: 8_000, topUp: 0, painter: 0, singer: 0 }), NODES, { maxMillicredits: 8_000 });
  expect((await money.begin(exact)).held).toHaveLength(3);
  const granted = runOf(await fund({ plan: 2_000, topUp: 0, painter: 2, singer: 0 }), NODES, { maxMillicredits: 2_000 });
  expect((await money.begin(granted)).held).toHaveLength(3);
});

it("doesn't call billing for a free run", async () => {
  const userId = randomUUID();
  const run = await money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 2, maxMillicredits: 0 }]));
  expect(run.held).toEqual([]);
  const end = { ...endOf(run, OUTCOMES.completed!), completed: [call("pics:0")] };
  expect(await money.settle(run, end)).toEqual({ status: "completed", millicredits: 0 });
  expect((await money.billing.listLedger({ userId, limit: 100, cursor: "" })).rows).toEqual([]);
});

it("doesn't cancel a completed run after it is paid", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const run = await money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: 3_000 }]));
  const billing = {
    settle: async (request: billingProto.SettleRequest) => {
      expect(await money.execution.requestCancel(run.executionId, userId)).toBeNull();
      return money.billing.settle(request);
    },
  };
  const { end: endBy } = createEnd({ ...money, billing });
  const end = { ...endOf(run, OUTCOMES.completed!), completed: [call("pics:0")] };
  expect(await endBy({ from: "workflow", input: run }, end)).toMatchObject({ status: "completed", millicredits: 3_000 });
  expect(await money.stores.rows.find(run.executionId)).toMatchObject({ status: "completed", ending: "completed", resultJson: "{}" });
  expect(await money.usageRows(userId)).toMatchObject([{ status: "completed", millicredits: 3_000 }]);
});

it("announces an end only after its usage and its place are done", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const eventTypes: string[] = [];
  const channel = { publish: (_id: string, { type }: { type: string }) => void eventTypes.push(type) };
  const execution = createExecution({ stores: money.stores, channel });
  const run = await money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: 3_000 }]));
  const { promise: mayPay, resolve: deliver } = deferred();
  const outbox = { deliverFirst: <Row>(row: Row) => mayPay.then(() => row) };
  const settled = createEnd({ ...money, execution, outbox }).end(
    { from: "workflow", input: run },
    { ...endOf(run, OUTCOMES.completed!), completed: [call("pics:0")] },
  );
  await eventually(async () => (await money.stores.rows.find(run.executionId))?.status === "completed");
  expect(eventTypes).toEqual([]);
  deliver();
  await settled;
  expect(eventTypes).toEqual(["settled"]);
});

it("captures an extension's hold like the first hold, and releases the rest", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const input = runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: 3_000 }]);
  const run = await money.begin(input);
  const item = { key: "pics:1", model: "painter", maxMillicredits: 3_000 };
  const extended = await money.holds.extend(run, [item]);
  expect(await money.holds.extend(run, [item])).toEqual(extended);
  const end = { ...endOf(run, OUTCOMES.completed!), completed: [call("pics:0"), call("pics:1")], extended };
  expect(await money.settle(run, end)).toEqual({ status: "completed", millicredits: 6_000 });
  expect((await money.billing.getAccount({ userId })).account).toMatchObject({ planMillicredits: 3_000, heldMillicredits: 0 });
  await expect(money.holds.extend(run, [{ ...item, key: "pics:2" }])).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
});

it("charges a cancelled run for calls recorded as submitted, even if its workflow never received them", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const run = await money.begin(runOf(userId, NODES));
  const { executionId } = run;
  await money.stores.calls.submitted({ key: `${executionId}:song:0`, executionId, nodeId: "song", item: 0 }, "a send");
  expect(await money.settle(run, endOf(run, OUTCOMES["cancelled after some"]!))).toMatchObject({
    millicredits: 5_000,
  });
});

it("releases a cancelled run's calls that a provider rejected, and charges those that another attempt may have sent", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const run = await money.begin(runOf(userId, NODES));
  const { executionId } = run;
  const callKeyOf = (nodeId: string) => ({ key: `${executionId}:${nodeId}:0`, executionId, nodeId, item: 0 });
  await money.stores.calls.submitted(callKeyOf("song"), "first");
  await money.stores.calls.submitted(callKeyOf("song"), "second");
  await money.stores.calls.submitted(callKeyOf("pics"), "only");
  await money.stores.calls.notReceived(callKeyOf("pics"), "only");
  await money.stores.calls.notReceived(callKeyOf("song"), "second");
  // Reported twice, as after a crash between the two reports.
  await money.stores.calls.notReceived(callKeyOf("song"), "second");
  const end = { ...endOf(run, OUTCOMES["cancelled after some"]!), completed: [] };
  expect(await money.settle(run, end)).toMatchObject({ millicredits: 2_000 });
});

it.each([
  ["recorded as completed", { status: "completed" }],
  ["whose output was refused", { status: "failed", refused: true }],
] as const)("charges a run ended from outside for calls %s, and for nothing else", async (_, record) => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const { executionId } = await money.begin(runOf(userId, NODES));
  const outputs = { executionId, requestId: null, outputsJson: "{}" };
  await money.stores.calls.recordEnd({
    ...outputs,
    _id: `${executionId}:pics:1`,
    nodeId: "pics",
    item: 1,
    ...record,
    costMicroUsd: PIC,
  });
  await money.stores.calls.submitted({ key: `${executionId}:song:0`, executionId, nodeId: "song", item: 0 }, "a send");
  const row = (await money.stores.rows.find(executionId))!;
  expect(await money.end({ from: "lost", row }, abandonedEnd(row))).toMatchObject({ status: "failed" });
  expect(await money.stores.rows.find(executionId)).toMatchObject({ status: "failed", millicredits: 3_000 });
  expect((await money.billing.getAccount({ userId })).account).toMatchObject({ planMillicredits: 6_000, heldMillicredits: 0 });
});

it("records the actual capture, not its own calculation, if another process settled first", async () => {
  const userId = await fund({ plan: 9_000, topUp: 0, painter: 0, singer: 0 });
  const input = runOf(userId, NODES);
  const { held = [] } = await money.begin(input);
  await money.billing.settle(
    billingProto.SettleRequest.fromPartial({ executionId: input.holdId, userId, items: [{ key: "pics:1", captureMillicredits: 900 }] }),
  );
  const outcome = OUTCOMES.completed!;
  expect(await money.settle({ ...input, held }, endOf(input, outcome))).toEqual({ status: "completed", millicredits: 900 });
  const record = (await money.stores.rows.find(input.executionId))!;
  expect(record.nodes.map(({ id, millicredits }) => [id, millicredits])).toEqual([
    ["pics", 900],
    ["song", 0],
  ]);
  expect(await usageRow(userId)).toMatchObject({ millicredits: 900, userCostMicroUsd: 9_000, costMicroUsd: 6_000 });
});
