import { randomUUID } from "node:crypto";
import { innerOwner, planRun, readGraph, tooManyWaiting, type RunPlan } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { ModelCall } from "../../src/run/calls";
import type { RunInput } from "../../src/run/types";
import { createRunStarter } from "../../src/workflow/client";
import { createApprovalActivities } from "../../src/workflow/approval-activities";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { createApprovals, type Approvals } from "../../src/lifecycle/approvals";
import { createOutbox, type Outbox } from "../../src/lifecycle/outbox";
import { createQueue, type Queue } from "../../src/lifecycle/queue";
import { createReads } from "../../src/reads/reads";
import { createDecide } from "../../src/accept/decide";
import { initialNodes } from "../../src/run/nodes";
import { newRecord, type ExecutionView } from "../../src/run/record";
import { createRelayedRuns } from "../../src/upkeep/runs";
import { eventually } from "../../../../test-support/eventually";
import { createLooks } from "../../../../test-support/looks";
import { createProcess, type Fault } from "../support/faults";
import { logger, reportEach, runOf, startMoney, type Money } from "../support/money";
import { noCanaries } from "../support/no-canaries";
import { startWorker } from "../support/temporal";

/** Runs with approvals on real Temporal, store and billing. The test simulates the picture model. */

const PRICE = 1_000;
const taskQueue = `approvals-${randomUUID().slice(0, 8)}`;
const OWN = "https://nodeloom.test/media/";
const FILE = { url: `${OWN}other.png`, contentType: "image/png" };

let money: Money;
let temporal: RunningTemporal;
let approvals: Approvals;
let outbox: Outbox;
let queue: Queue;
let starter: ReturnType<typeof createRunStarter>;
let sweep: () => Promise<void>;
/** Created pictures, by run. */
const madeCalls: string[] = [];
/** Owners of files, if they differ from the run's user. */
const owners = new Map<string, string | undefined>();
/** True to drop the signals of decisions. */
let lostSignals = false;

const work = (): Promise<RunningTemporal> =>
  startWorker(taskQueue, {
    ...createApprovalActivities({ approvals, stores: money.stores }),
    claim: async ({ executionId, attempt, claimedBy }: { executionId: string; attempt: number; claimedBy: string }) =>
      (await money.execution.claim(executionId, attempt, claimedBy)) !== null,
    settle: money.settle,
    runFiles: async ({ executionId, key, nodeId, item, inputs, ownerId }: ModelCall) => {
      owners.set(executionId, ownerId);
      madeCalls.push(`${executionId} ${String(inputs.prompt)}`);
      const file = { url: `${OWN}${nodeId}.png`, contentType: "image/png" };
      await money.stores.calls.recordEnd({
        _id: key,
        executionId,
        nodeId,
        item,
        status: "completed",
        costMicroUsd: 4_000,
        requestId: null,
      } as never);
      return { files: [file], text: null, costMicroUsd: 4_000, requestId: null };
    },
  });

const outboxParts = () => ({
  ...{ holds: money.holds, queue, reports: reportEach(money.usage), logger },
  webhooks: { end: async () => undefined, waiting: async () => undefined },
  canaries: noCanaries,
  mailApprovers: async () => undefined,
  erase: async () => undefined,
});

beforeAll(async () => {
  money = await startMoney();
  const { stores, execution } = money;
  const late = { start: (input: RunInput) => starter.start(input), placed: (id: string) => starter.placed(id) };
  queue = createQueue({ stores, starter: late, logger });
  outbox = createOutbox({
    ...outboxParts(),
    stores,
    starter: {
      cancel: (id) => starter.cancel(id),
      decided: async (id, nodeId) => {
        if (lostSignals) throw new Error("the signal is lost");
        await starter.decided(id, nodeId);
      },
    },
  });
  approvals = createApprovals({ stores, execution, queue, outbox });
  temporal = await work();
  starter = createRunStarter({ client: temporal.client, taskQueue });
  sweep = createLooks(createRelayedRuns({ stores, execution, end: { endQueued: async () => null }, queue, outbox }));
});
afterAll(async () => {
  await temporal.stop();
  await money.stopBalanced();
});

const node = (id: string, type: string, data: Record<string, unknown> = {}) => ({ id, type, data });
const edge = (from: string, to: string) => {
  const [[source, sourceHandle], [target, targetHandle]] = [from.split("."), to.split(".")];
  return { id: `${from}>${to}`, source, sourceHandle, target, targetHandle };
};

/** A picture, its approval, and a report of the outcome. `approved` leads to another picture. */
const planOf = (approval: Record<string, unknown> = {}, text = "a boat"): RunPlan => {
  const nodes = [
    node("text", "text-box", { text }),
    node("first", "generate-image", { model: "painter", inputs: { prompt: "draft" } }),
    node("ok", "approval", { title: "Good?", ...approval }),
    node("second", "generate-image", { model: "painter", inputs: { prompt: "{{what}}" } }),
    node("no", "text-box", { text: "not {{what}}" }),
    node("out", "response-output"),
  ];
  const edges = [
    ...[edge("text.text", "ok.value"), edge("ok.approved", "second.what"), edge("ok.rejected", "no.what")],
    ...[edge("first.image", "out.images"), edge("second.image", "out.images"), edge("no.text", "out.text")],
  ];
  const terms = {
    internalName: "painter",
    modality: "image",
    providerKind: "direct-http",
    price: { basis: "run", microUsd: 4_000 } as const,
    inputSchema: { type: "object", properties: { prompt: { type: "string" } } },
    validate: () => [],
  };
  const { plan, issues } = planRun({
    graph: readGraph(JSON.stringify(nodes), JSON.stringify(edges)),
    ...{ inputs: new Map(), models: new Map([["painter", terms]]), media: new Map(), markupPermille: 1_500, storage: OWN },
  });
  if (!plan) throw new Error(JSON.stringify(issues));
  return plan;
};

const HELD = ["first", "second"].map((id) => ({ key: `${id}:0`, model: "painter", maxMillicredits: PRICE }));

/** Starts a run with a hold and a place. */
const begin = async (plan: RunPlan, userId: string, concurrency = 1, part: Partial<RunInput> = {}): Promise<RunInput> => {
  const input = runOf(userId, [], { plan, modelIds: ["painter"], holds: HELD, concurrency, ...part });
  await money.stores.rows.insert(newRecord(input, initialNodes(plan)));
  const run = { ...input, held: await money.holds.hold(input) };
  await approvals.admit(run);
  expect(await queue.enter(userId, { id: run.holdId, bytes: 1, limit: concurrency, mayWait: true })).toBe(0);
  await starter.start(run);
  return run;
};

const rich = async (): Promise<string> => {
  const userId = randomUUID();
  const kind = billingProto.CreditKind.CREDIT_KIND_PLAN;
  await money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, kind, millicredits: 100 * PRICE, reference: randomUUID() }));
  return userId;
};

const until = async <T>(look: () => Promise<T | undefined | false | null>): Promise<T> => (await eventually(look, Boolean)) as T;
const row = async ({ executionId }: RunInput): Promise<ExecutionView> => (await money.stores.rows.find(executionId))!;
const waiting = (run: RunInput): Promise<ExecutionView> => until(async () => ((record) => record.waiting && record)(await row(run)));
const isPaused = (run: RunInput): Promise<boolean> =>
  until(async () => !(await money.stores.queues.find(run.userId)).running.includes(run.holdId));
const endedRow = (run: RunInput): Promise<ExecutionView> =>
  until(async () => ((record) => record.finishedAt !== null && record.outbox.length === 0 && record)(await row(run)));

const decide = ({ executionId, userId }: RunInput, part: Partial<executions.DecideExecutionRequest> = {}, by: Approvals = approvals) =>
  createDecide({
    stores: money.stores,
    approvals: by,
    media: {
      getObjects: async () => ({ objects: [] }),
      getObjectsByKey: async () => ({ objects: [FILE as never] }),
    },
    own: OWN,
  })(executions.DecideExecutionRequest.fromPartial({ executionId, userId, nodeId: "ok", isApproved: true, ...part }));

const charges = async ({ userId }: RunInput): Promise<number[]> => {
  const { rows } = await money.billing.listLedger({ userId, limit: 200, cursor: "" });
  return rows.filter(({ kind }) => kind === "capture").map(({ millicredits }) => millicredits);
};

it("waits without a place in the queue, continues with a changed value on one branch, and is charged once for the calls made", async () => {
  const userId = await rich();
  const run = await begin(planOf(), userId);
  await waiting(run);
  await isPaused(run);
  // Another run takes the free place, and this run waits for it.
  const other = "other.1";
  expect(await queue.enter(userId, { id: other, bytes: 1, limit: 1, mayWait: true })).toBe(0);
  const reads = createReads(money.stores, async () => undefined);
  const [waitingNode] = (await reads.get(run.executionId, userId)).waitingFor;
  expect(waitingNode).toMatchObject({ nodeId: "ok", title: "Good?", onTimeout: "reject", valueJson: '"a boat"', truncated: false });
  expect(waitingNode!.until!.getTime() - waitingNode!.since!.getTime()).toBe(72 * 3_600_000);
  expect(await money.stores.approvals.count(userId)).toBe(1);
  await decide(run, { valueJson: '"a ship"', personId: "reviewer", comment: "A ship, please." });
  await until(async () => (await money.stores.queues.find(userId)).waiting.some(({ id }) => id === run.holdId));
  expect(await reads.get(run.executionId, userId)).toMatchObject({ queued: true, position: 1, waitingFor: [] });
  expect(madeCalls.filter((one) => one.startsWith(run.executionId))).toEqual([`${run.executionId} draft`]);
  await queue.leave(userId, [other]);
  const end = await endedRow(run);
  const decision = { isApproved: true, by: "owner", userId: "reviewer", comment: "A ship, please." };
  expect(end).toMatchObject({ status: "completed", waits: [{ nodeId: "ok" }], decisions: [decision] });
  expect(end.nodes.map(({ id, status }) => [id, status])).toEqual(
    expect.arrayContaining([
      ["ok", "completed"],
      ["second", "completed"],
      ["no", "skipped"],
    ]),
  );
  expect(madeCalls).toContain(`${run.executionId} a ship`);
  expect(await charges(run)).toEqual([-1_200]);
  expect(end).not.toHaveProperty("waiting");
  expect(await money.stores.queues.find(userId)).toMatchObject({ running: [], waiting: [], approvals: [] });
  const log = (await money.stores.log.events(run.executionId, userId, 0))!.events.map(({ key }) => key);
  expect(new Set(log).size).toBe(log.length);
  expect(log.filter((key) => key.endsWith(":ok"))).toEqual(["started:ok", "waiting:ok", "decided:ok", "completed:ok"]);
});

it("hides values of a graph that its runner can't read, and can still be decided", async () => {
  const run = await begin({ ...planOf(), hidesOutputs: true }, await rich());
  await waiting(run);
  const [waitingNode] = (await createReads(money.stores, async () => undefined).get(run.executionId, run.userId)).waitingFor;
  expect(waitingNode).toMatchObject({ nodeId: "ok", valueJson: "", truncated: false });
  await decide(run, { isApproved: false });
  expect(await endedRow(run)).toMatchObject({ status: "completed", resultJson: expect.stringContaining("not a boat") as string });
  expect(owners.get(run.executionId)).toBe(innerOwner(run.userId));
});

it("accepts exactly one of fifty simultaneous decisions", async () => {
  const run = await begin(planOf(), await rich());
  await waiting(run);
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => decide(run, { isApproved: index % 2 === 0 })));
  const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  expect(won).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "conflict", reason: "NOT_WAITING" });
  const end = await endedRow(run);
  expect(end.decisions).toMatchObject([{ isApproved: won[0]!.isApproved }]);
  expect(end.nodes.find(({ id }) => id === "second")!.status).toBe(won[0]!.isApproved ? "completed" : "skipped");
  await expect(decide(run)).rejects.toMatchObject({ reason: "NOT_WAITING", metadata: { decidedBy: "owner" } });
});

it("reuses a decision in a rerun that names its node, with the changed value, unless the reviewed value differs", async () => {
  const userId = await rich();
  const first = await begin(planOf(), userId);
  await waiting(first);
  await decide(first, { valueJson: '"a ship"' });
  await endedRow(first);
  const reuse = { sources: [first.executionId], again: ["first", "second"], requests: ["ok"] };
  const rerun = await begin(planOf(), userId, 1, { reuse });
  expect(await endedRow(rerun)).toMatchObject({ status: "completed", decisions: [{ nodeId: "ok", isApproved: true, by: "rerun" }] });
  expect(madeCalls).toContain(`${rerun.executionId} a ship`);

  const others = [
    { plan: planOf(), reuse: { ...reuse, requests: [] } },
    { plan: planOf({}, "a raft"), reuse },
  ];
  for (const other of others) {
    const decidedRun = await begin(other.plan, userId, 1, { reuse: other.reuse });
    await waiting(decidedRun);
    await decide(decidedRun, { isApproved: false });
    expect(await endedRow(decidedRun)).toMatchObject({ decisions: [{ isApproved: false, by: "owner" }] });
  }
});

it("rejects decisions by strangers, on nodes that aren't approvals, and with values of another type", async () => {
  const run = await begin(planOf(), await rich());
  await waiting(run);
  await expect(decide(run, { userId: randomUUID() })).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  await expect(decide(run, { nodeId: "second" })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  await expect(decide(run, { valueJson: "7" })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  expect((await row(run)).waitingFor).toEqual(["ok"]);
  await decide(run, { isApproved: false });
  expect(await endedRow(run)).toMatchObject({ status: "completed", resultJson: expect.stringContaining("not a boat") as string });
});

it("is decided only by its approvers, and a rerun doesn't reuse their decision", async () => {
  const userId = await rich();
  const plan = planOf({ approvers: ["editor", "ann@example.test"] });
  const run = await begin(plan, userId);
  await waiting(run);
  const editor = { personId: "eve", role: "editor", address: "", isService: false };
  const refusedDeciders = [
    undefined,
    { ...editor, role: "runner" },
    { ...editor, isService: true },
    { ...editor, role: "runner", address: "bob@example.test" },
  ];
  for (const decider of refusedDeciders)
    await expect(decide(run, { decider })).rejects.toMatchObject({ kind: "forbidden", reason: "NOT_APPROVER" });
  expect((await row(run)).waitingFor).toEqual(["ok"]);
  await decide(run, { decider: { ...editor, role: "viewer", address: "Ann@Example.test" } });
  await endedRow(run);
  const reuse = { sources: [run.executionId], again: ["first", "second"], requests: ["ok"] };
  const rerun = await begin(plan, userId, 1, { reuse });
  await waiting(rerun);
  await decide(rerun, { isApproved: false, decider: editor });
  expect(await endedRow(rerun)).toMatchObject({ decisions: [{ isApproved: false, by: "owner" }] });
});

it("can't be decided by the person who started the run, nor by a service account, if this is set", async () => {
  const run = await begin(planOf({ notStarter: true }), await rich());
  await waiting(run);
  const starter = { personId: run.userId, role: "owner", address: "", isService: false };
  for (const decider of [undefined, starter, { ...starter, personId: "robot", isService: true }])
    await expect(decide(run, { decider })).rejects.toMatchObject({ kind: "forbidden", reason: "NOT_APPROVER" });
  await decide(run, { isApproved: false, decider: { ...starter, personId: "another" } });
  expect(await endedRow(run)).toMatchObject({ status: "completed", decisions: [{ isApproved: false, by: "owner" }] });
});

it.each(["approve", "reject"] as const)("is decided automatically after its time: %s", async (onTimeout) => {
  const run = await begin(planOf({ timeoutHours: 0.0001, onTimeout }), await rich());
  const end = await endedRow(run);
  expect(end).toMatchObject({ status: "completed", decisions: [{ isApproved: onTimeout === "approve", by: "timeout" }] });
  expect(end.nodes.find(({ id }) => id === "second")!.status).toBe(onTimeout === "approve" ? "completed" : "skipped");
});

it("ends at once if it is cancelled while it waits, and pays for completed calls", async () => {
  const run = await begin(planOf(), await rich());
  await waiting(run);
  await isPaused(run);
  const cancelled = await money.execution.requestCancel(run.executionId, run.userId);
  expect(cancelled).not.toHaveProperty("waiting");
  await outbox.deliver(cancelled!);
  expect(await endedRow(run)).toMatchObject({ status: "cancelled" });
  expect(await charges(run)).toEqual([-600]);
  await expect(decide(run)).rejects.toMatchObject({ reason: "NOT_WAITING" });
});

it("continues on another worker after a decision made while none ran and whose signal was lost", async () => {
  const run = await begin(planOf(), await rich());
  await waiting(run);
  await isPaused(run);
  await temporal.drain();
  await temporal.close();
  lostSignals = true;
  await decide(run);
  await until(async () => (await row(run)).outbox.includes("decided:ok"));
  temporal = await work();
  starter = createRunStarter({ client: temporal.client, taskQueue });
  lostSignals = false;
  await sweep();
  expect(await endedRow(run)).toMatchObject({ status: "completed", decisions: [{ by: "owner" }] });
  expect(await charges(run)).toEqual([-1_200]);
  const history = (await temporal.client.workflow.getHandle(run.executionId).fetchHistory()).events!;
  expect(history.length).toBeLessThan(60);
});

/** A process that fails before or after its n-th write of a decision. */
const decideFailing = async (run: RunInput, fault: Fault): Promise<void> => {
  const failing = createProcess();
  const { approvals: approvalStore, rows } = money.stores;
  const stores = { ...money.stores, approvals: failing.wrap("approvals", approvalStore), rows: failing.wrap("rows", rows) };
  const faultyOutbox = createOutbox({ ...outboxParts(), stores, starter: failing.wrap("temporal", starter) });
  const own = createApprovals({ stores, execution: money.execution, queue, outbox: faultyOutbox });
  failing.arm(fault);
  await Promise.race([decide(run, {}, own).catch(() => undefined), failing.death]);
};

it("makes one decision that the run receives, whatever fails meanwhile", async () => {
  const faults = [0, 1, 2].flatMap((at) =>
    (["before", "after"] as const).flatMap((when) => (["dies", "fails"] as const).map((how): Fault => ({ at, when, how }))),
  );
  const ends = faults.map(async (fault) => {
    const run = await begin(planOf(), await rich());
    await waiting(run);
    await isPaused(run);
    await decideFailing(run, fault);
    // The client sends the request again.
    const again = await decide(run).catch((error: { reason: string }) => error.reason);
    if (typeof again === "string") expect(again).toBe("NOT_WAITING");
    await until(async () => (await row(run)).finishedAt !== null || (await sweep(), false));
    expect(await endedRow(run)).toMatchObject({ status: "completed", decisions: [{ isApproved: true, by: "owner" }] });
    expect(await charges(run)).toEqual([-1_200]);
  });
  await Promise.all(ends);
});

it("admits exactly as many runs with an approval as can wait, and the next when one ends", async () => {
  const userId = randomUUID();
  const inputs = Array.from({ length: 12 }, () => runOf(userId, [], { concurrency: 1 }));
  for (const input of inputs) await money.stores.rows.insert(newRecord(input, []));
  const admit = ({ holdId }: RunInput): Promise<boolean> => queue.admitApproval(userId, holdId, 10);
  const admitted = await Promise.all(inputs.map(admit));
  expect(admitted.filter(Boolean)).toHaveLength(10);
  const late = inputs[admitted.indexOf(false)]!;
  expect(await admit(late)).toBe(false);
  // The process died before it left the queue. Its entry is found when the next run needs the place.
  await money.execution.refuse(await row(inputs[admitted.indexOf(true)]!), tooManyWaiting(10), []);
  expect(await admit(late)).toBe(true);
});
