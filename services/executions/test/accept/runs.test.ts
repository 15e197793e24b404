import { randomUUID } from "node:crypto";
import { holdIdOf, unavailable } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import { eventually } from "../../../../test-support/eventually";
import type { RunEnd, RunInput } from "../../src/run/types";
import { createCancellation } from "../../src/accept/cancellation";
import { createApprovals } from "../../src/lifecycle/approvals";
import { createExecution } from "../../src/lifecycle/execution";
import { createAwaitDelivered, createFollow } from "../../src/record/runs/channel";
import { createEnd } from "../../src/lifecycle/end";
import { QUEUE_LENGTH_FACTOR, placeOf } from "../../src/run/queue";
import { createQueue } from "../../src/lifecycle/queue";
import { createRuns } from "../../src/accept/runs";
import { createPinnedOf, createKeepGraph, type PinnedGraphs } from "../../src/plan/kept-graphs";
import { createStart } from "../../src/accept/start";
import { noCanaryWorkflows } from "../support/no-canaries";
import { noReruns } from "../support/no-reruns";
import { createRelayedRuns } from "../../src/upkeep/runs";
import { createLooks } from "../../../../test-support/looks";
import type { PlannedRun } from "../../src/plan/planning";
import type { BatchRecord } from "../../src/run/batch";
import { localChannel } from "../support/local-channel";
import { initialNodes } from "../../src/run/nodes";
import { logger, runOf, startMoney, type Money } from "../support/money";

/** The life of runs with real billing, usage and store. The test simulates workflows. */

const PRICE = 1_000;
const { CREDIT_KIND_PLAN } = billingProto.CreditKind;

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stopBalanced());

interface Faults {
  /** Runs instead of a step's work, or before it. */
  hold?: () => Promise<void>;
  start?: () => Promise<void>;
  /** The run is by a canary with a limit, and this reserves its credits. */
  reserve?: (run: { holdId: string; millicredits: number; isStored: boolean }) => Promise<boolean>;
  /** Runs before an answer is stored. */
  answer?: () => Promise<unknown>;
  /** Another process does the pending work, unless it must precede the answer. */
  noBackground?: true;
}

/** A replica whose workflows run on the test's command. */
const replica = (faults: Faults = {}, calls = 1) => {
  const channel = localChannel();
  const { stores, outbox, holds, billing } = money;
  const execution = createExecution({ stores, channel });
  const started: RunInput[] = [];
  const starter = {
    start: async (input: RunInput): Promise<"started"> => {
      await faults.start?.();
      started.push(input);
      return "started";
    },
    placed: async (): Promise<void> => undefined,
  };
  const queue = createQueue({ stores, starter, logger });
  const holding = {
    hold: async (input: RunInput) => {
      await faults.hold?.();
      return holds.hold(input);
    },
  };
  const planned = (): PlannedRun => {
    const { plan, holds: items } = runOf("any", [{ id: "pics", model: "painter", calls, maxMillicredits: PRICE }]);
    return {
      plan: calls === 0 ? { ...plan, steps: [] } : plan,
      holds: items,
      workflowSlug: "flow",
      modelIds: ["painter"],
      inputsJson: "{}",
      ...(faults.reserve ? { canary: { id: "canary", arm: "canary", isLimited: true } as const } : {}),
    };
  };
  const { reserve } = faults;
  const canaryWorkflows = {
    reserveCanaryRun: async (run: { holdId: string; millicredits: number; isStored: boolean }) => ({ reserved: await reserve!(run) }),
    releaseCanaryRun: () => Promise.resolve({}),
  };
  const planning = { plan: jest.fn(() => Promise.resolve(planned())) };
  const end = createEnd({ billing, execution, stores, outbox });
  const awaitDelivered = createAwaitDelivered({ stores, channel });
  const start = createStart({
    planning,
    reruns: noReruns,
    workflows: reserve ? canaryWorkflows : noCanaryWorkflows,
    pinnedOf: createPinnedOf(stores),
    keepGraph: createKeepGraph(stores.payloads),
    own: "https://platform.test/media/",
    starter,
    stores,
    execution,
    holds: holding,
    queue,
    approvals: createApprovals({ stores, execution, queue, outbox }),
    end,
    outbox: faults.noBackground ? { ...outbox, deliverLater: () => Promise.resolve(false) } : outbox,
  });
  const noteAnswer: typeof stores.rows.noteAnswer = async (...args) => {
    await faults.answer?.();
    return stores.rows.noteAnswer(...args);
  };
  const answering = { ...stores, rows: { ...stores.rows, noteAnswer } };
  const runs = createRuns({ start, follow: createFollow({ stores, channel }), stores: answering, execution, outbox, awaitDelivered });
  const carry = async (input: RunInput, completed = 0): Promise<boolean> => {
    if (!(await execution.claim(input.executionId, input.attempt!, `workflow of ${input.attempt}`))) return false;
    const runEnd: RunEnd = {
      status: "completed",
      result: {},
      error: null,
      requestId: null,
      nodes: initialNodes(input.plan).map((node) => ({ ...node, status: "completed" })),
      completed: Array.from({ length: completed }, (_, item) => ({ key: `pics:${item}`, nodeId: "pics", costMicroUsd: 4_000 })),
    };
    await money.settle(input, runEnd);
    return true;
  };
  return {
    runs,
    channel,
    started,
    planning,
    execution,
    queue,
    carry,
    cancellation: createCancellation({
      ...{ stores, execution, end, outbox, awaitDelivered },
      tasks: { isFailing: () => Promise.resolve(false) },
      abandon: () => Promise.reject(new Error("no task fails here")),
    }),
    sweep: createLooks(createRelayedRuns({ stores, execution, end, queue, outbox })),
  };
};

const fund = async (millicredits: number): Promise<string> => {
  const userId = randomUUID();
  const credit = { userId, kind: CREDIT_KIND_PLAN, millicredits, reference: randomUUID() };
  await money.billing.credit(billingProto.CreditRequest.fromPartial(credit));
  return userId;
};
const balance = async (userId: string) => {
  const { account } = await money.billing.getAccount({ userId });
  return { free: account!.planMillicredits, held: account!.heldMillicredits };
};

const { RUN_MODE_ASYNC, RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;
type Part = Omit<Partial<executions.RunRequest>, "runner"> & { concurrency?: number };
const requestOf = (userId: string, { concurrency = 1, ...part }: Part = {}): executions.RunRequest =>
  executions.RunRequest.fromPartial({
    executionId: randomUUID(),
    inputsJson: "{}",
    mode: RUN_MODE_RESPOND_ASYNC,
    waitMs: 200,
    requestToken: randomUUID(),
    ...part,
    runner: { userId, concurrency, baseTier: "pro", source: "api-workflow" },
  });
/** Sends a request and carries out the run as soon as its workflow has started. */
const runThrough = async (one: ReturnType<typeof replica>, request: executions.RunRequest) => {
  const pendingRun = one.runs.run(request);
  await Promise.race([pendingRun, eventually(() => one.started.some(({ executionId }) => executionId === request.executionId))]);
  const input = one.started.findLast(({ executionId }) => executionId === request.executionId);
  if (input) await one.carry(input, 1);
  return pendingRun;
};

describe("per run", () => {
  it("is announced only after its workflow has claimed it, and its credits are captured once", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica()];
    const request = requestOf(userId, { metadata: { order: "7" } });
    let isTold = false;
    const pendingRun = one.runs.run(request).then((reply) => {
      isTold = true;
      return reply;
    });
    await eventually(() => one.started.length === 1);
    expect(await money.stores.rows.findOwned(request.executionId, userId)).toBeNull();
    expect(isTold).toBe(false);
    expect(await one.carry(one.started[0]!, 1)).toBe(true);
    expect((await pendingRun).row).toMatchObject({ _id: request.executionId, attempt: 1 });
    expect(await balance(userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
    expect(await money.usageRows(userId)).toMatchObject([
      { executionId: request.executionId, status: "completed", metadata: { order: "7" } },
    ]);
    // A second workflow of the same attempt doesn't own the run.
    expect(await one.execution.claim(request.executionId, 1, "another")).toBeNull();
  });

  it("is joined under its existing id, and never planned again", async () => {
    const [userId, one, two] = [await fund(10 * PRICE), replica(), replica()];
    const request = requestOf(userId, { fingerprint: "f" });
    await runThrough(one, request);
    const again = await two.runs.run({ ...request, requestToken: "another" });
    expect(again).toMatchObject({ isReplay: true, row: { status: "completed" } });
    expect(two.planning.plan).not.toHaveBeenCalled();
    await expect(two.runs.run({ ...request, fingerprint: "g" })).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    await expect(two.runs.run({ ...request, runner: { ...request.runner!, userId: "x" } })).rejects.toMatchObject({
      reason: "EXECUTION_NOT_FOUND",
    });
  });

  it("plans an item of a batch from the batch's stored graph, and no item after that is removed", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica()];
    const graph = { nodesJson: "[]", edgesJson: "[]", pinnedModels: {}, version: 0 };
    const pinned: PinnedGraphs = { graph, inner: { "owner flow ": graph } };
    const batchOf = async (pinnedPart: object): Promise<{ batchId: string; index: number }> => {
      const batchId = randomUUID();
      await money.stores.batches.insert({ _id: batchId, userId, status: "running", underWay: [], ...pinnedPart } as unknown as BatchRecord);
      return { batchId, index: 0 };
    };
    for (const [pinnedPart, expected] of [
      [{ graph: await money.stores.payloads.putText(JSON.stringify(pinned), userId) }, pinned],
      [{}, undefined],
    ]) {
      await runThrough(one, requestOf(userId, { batch: await batchOf(pinnedPart!) }));
      expect(one.planning.plan).toHaveBeenLastCalledWith(expect.objectContaining({ pinned: expected }));
    }
    const request = requestOf(userId, { batch: await batchOf({ graph: { hash: "gone" } }) });
    await expect(one.runs.run(request)).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
  });

  it("starts once, however many requests arrive at two replicas at once", async () => {
    const [userId, one, two] = [await fund(10 * PRICE), replica(), replica()];
    const request = requestOf(userId, { waitMs: 3_000 });
    const pendingRuns = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : two).runs.run({ ...request, requestToken: String(index) }),
    );
    await eventually(() => one.started.length + two.started.length > 0);
    await Promise.all([...one.started, ...two.started].map((input) => one.carry(input, 1)));
    const replies = await Promise.all(pendingRuns);
    expect(replies.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(one.started.length + two.started.length).toBe(1);
    expect(await balance(userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
  });

  it("remembers missing credits for a minute, and evaluates again after other errors", async () => {
    const [userId, one] = [await fund(PRICE - 1), replica()];
    const request = requestOf(userId, { fingerprint: "f" });
    await expect(one.runs.run(request)).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
    await expect(one.runs.run(request)).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
    expect(one.planning.plan).toHaveBeenCalledTimes(1);
    const broken = replica({ hold: () => Promise.reject(unavailable("billing is away")) });
    const other = requestOf(await fund(10 * PRICE), { fingerprint: "f" });
    await expect(broken.runs.run(other)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    const { row } = await runThrough(one, other);
    expect(row).toMatchObject({ attempt: 2 });
    expect(await money.stores.rows.find(other.executionId)).toMatchObject({ status: "completed", holdId: `${other.executionId}.2` });
  });

  it("by a canary reserves credits of the canary, and keeps them once it is stored", async () => {
    const userId = await fund(10 * PRICE);
    const request = requestOf(userId);
    const reservations: { isStored: boolean; hasRow: boolean }[] = [];
    const reserve = async ({ isStored }: { isStored: boolean }): Promise<boolean> => {
      reservations.push({ isStored, hasRow: (await money.stores.rows.find(request.executionId)) !== null });
      return true;
    };
    await runThrough(replica({ reserve }), request);
    expect(reservations).toEqual([
      { isStored: false, hasRow: false },
      { isStored: true, hasRow: true },
    ]);
    // If the canary's credits are gone meanwhile, nothing runs, and the client can retry.
    const late = requestOf(userId);
    const one = replica({ reserve: ({ isStored }) => Promise.resolve(!isStored) });
    await expect(one.runs.run(late)).rejects.toMatchObject({ kind: "unavailable" });
    expect(one.started).toEqual([]);
    expect((await balance(userId)).held).toBe(0);
  });

  it("without calls is inserted as final, with no hold, no place and no workflow", async () => {
    const [userId, one] = [randomUUID(), replica({}, 0)];
    const { row } = await one.runs.run(requestOf(userId, { mode: RUN_MODE_SYNC, concurrency: 1 }));
    expect(row).toMatchObject({ status: "completed", millicredits: 0 });
    expect(one.started).toEqual([]);
    expect(await one.cancellation.cancel(row._id, userId)).toBe("already_completed");
    await eventually(async () => (await money.stores.rows.find(row._id))?.unsettled === undefined);
  });

  it("that ends at its start announces its end", async () => {
    const [one, types] = [replica({}, 0), [] as string[]];
    const request = requestOf(randomUUID(), { mode: RUN_MODE_SYNC, isNew: true });
    one.channel.onTransition(request.executionId, ({ type }) => void types.push(type));
    await one.runs.run(request);
    expect(types).toEqual(["settled"]);
  });
});

describe("the webhook of a synchronous run", () => {
  const synchronous = (userId: string, waitMs: number): executions.RunRequest => {
    const request = requestOf(userId, { mode: RUN_MODE_SYNC, waitMs, concurrency: 0 });
    return { ...request, runner: { ...request.runner!, keyId: "key", webhookUrl: "https://receiver.test/hook" } };
  };
  const announcementsOf = async (id: string): Promise<number> => {
    await eventually(async () => (await money.stores.rows.find(id))?.outbox?.length === 0);
    return money.delivered.filter((one) => one === id).length;
  };

  it("is not called if the response is the end", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica()];
    const { row } = await runThrough(one, synchronous(userId, 10_000));
    expect(row.status).toBe("completed");
    expect(await announcementsOf(row._id)).toBe(0);
  });

  it("gets the end once if the response is 202", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica()];
    const request = synchronous(userId, 100);
    const pendingRun = one.runs.run(request);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(request.executionId, one.started[0]!.attempt!, "workflow of 1");
    expect((await pendingRun).row).toMatchObject({ answered: "accepted", status: "processing" });
    await one.carry(one.started[0]!, 1);
    expect(await announcementsOf(request.executionId)).toBe(1);
  });

  it("is not called if the run ends just before its 202 is stored: the response is the end", async () => {
    const userId = await fund(10 * PRICE);
    const one: ReturnType<typeof replica> = replica({ answer: () => one.carry(one.started[0]!, 1) });
    const request = synchronous(userId, 100);
    const pendingRun = one.runs.run(request);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(request.executionId, one.started[0]!.attempt!, "workflow of 1");
    expect((await pendingRun).row).toMatchObject({ status: "completed" });
    expect(await announcementsOf(request.executionId)).toBe(0);
  });
});

describe("the queue", () => {
  it("lets a run wait with its credits held, releases those of a rejected run before the response, and starts the oldest run when a place is free", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica({ noBackground: true })];
    const [first, second, third] = [requestOf(userId), requestOf(userId), requestOf(userId, { mode: RUN_MODE_ASYNC })];
    const pendingRun = one.runs.run(first);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(first.executionId, 1, "w");
    await pendingRun;
    expect((await one.runs.run(second)).row).toMatchObject({ status: "queued" });
    expect((await one.runs.run(third)).row).toMatchObject({ status: "queued" });
    expect(placeOf(await money.stores.queues.find(userId), holdIdOf(third.executionId, 1))).toBe(2);
    expect(await balance(userId)).toMatchObject({ held: 3 * PRICE });
    await expect(one.runs.run(requestOf(userId, { noQueue: true }))).rejects.toMatchObject({
      reason: "CONCURRENCY_LIMIT_EXCEEDED",
      metadata: { limit: 1, retryAfter: expect.any(Number) as number },
    });
    expect(await balance(userId)).toMatchObject({ held: 3 * PRICE });
    await one.queue.leave(userId, [holdIdOf(first.executionId, 1)]);
    await eventually(() => one.started.length === 2);
    expect(one.started[1]).toMatchObject({ executionId: second.executionId, held: [{ key: "pics:0" }] });
    expect(await one.execution.claim(second.executionId, 1, "w")).toMatchObject({ row: { status: "processing" } });
    const { events } = (await money.stores.log.events(second.executionId, userId, 0))!;
    expect(events.map(({ type }) => type)).toEqual(["admitted", "queued", "started"]);
  });

  it("reports how many runs can wait if it is full, and releases the rejected run's hold", async () => {
    const [userId, one] = [await fund(20 * PRICE), replica({ noBackground: true })];
    const first = requestOf(userId);
    const pendingRun = one.runs.run(first);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(first.executionId, 1, "w");
    await pendingRun;
    for (let waiting = 0; waiting < QUEUE_LENGTH_FACTOR; waiting += 1) await one.runs.run(requestOf(userId, { mode: RUN_MODE_ASYNC }));
    await expect(one.runs.run(requestOf(userId))).rejects.toMatchObject({
      reason: "CONCURRENCY_LIMIT_EXCEEDED",
      metadata: { limit: 1, queueLimit: QUEUE_LENGTH_FACTOR },
    });
    expect(await balance(userId)).toMatchObject({ held: (1 + QUEUE_LENGTH_FACTOR) * PRICE });
  });

  it("ends waiting runs at once when they are cancelled, one or all, and releases their credits", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica()];
    const requests = Array.from({ length: 4 }, () => requestOf(userId));
    const pendingRun = one.runs.run(requests[0]!);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(requests[0]!.executionId, 1, "w");
    await pendingRun;
    for (const request of requests.slice(1)) await one.runs.run(request);
    expect(await one.cancellation.cancel(requests[1]!.executionId, userId)).toBe("cancel_requested");
    expect(await one.cancellation.cancel(requests[1]!.executionId, userId)).toBe("already_cancelled");
    expect(await one.cancellation.cancelQueued(userId)).toBe(2);
    await eventually(async () => (await balance(userId)).held === PRICE);
    expect(await money.stores.rows.find(requests[3]!.executionId)).toMatchObject({ status: "cancelled", millicredits: 0 });
    // A workflow that was started for it meanwhile can't claim it.
    expect(await one.execution.claim(requests[3]!.executionId, 1, "w")).toBeNull();
  });

  it("fails a run that waited for a day, for free", async () => {
    const [userId, one] = [await fund(10 * PRICE), replica({ noBackground: true })];
    const [first, second] = [requestOf(userId), requestOf(userId)];
    const pendingRun = one.runs.run(first);
    await eventually(() => one.started.length === 1);
    await one.execution.claim(first.executionId, 1, "w");
    await pendingRun;
    await one.runs.run(second);
    const { stores, outbox } = money;
    const now = (): number => Date.now() + 25 * 3_600_000;
    await createLooks(createRelayedRuns({ stores, execution: one.execution, end: money, queue: one.queue, outbox, now }))();
    expect(await money.stores.rows.find(second.executionId)).toMatchObject({ status: "failed", error: { code: "EXECUTION_FAILED" } });
    await eventually(async () => (await balance(userId)).held === PRICE);
  });
});

describe("a crash", () => {
  const died = (): Promise<never> => new Promise(() => undefined);
  /** Crashes of the starting process: before or after each write before the workflow starts. */
  const CRASHES: Record<string, Faults> = {
    "before the hold": { hold: died },
    "after the hold, before the workflow": { start: died },
  };

  it.each(Object.entries(CRASHES))("%s leaves a rejected run, and no hold", async (_, faults) => {
    const [userId, dying, other] = [await fund(10 * PRICE), replica(faults), replica()];
    const request = requestOf(userId);
    void dying.runs.run(request).catch(() => undefined);
    await eventually(async () => (await money.stores.rows.find(request.executionId)) !== null);
    if (faults.start) await eventually(async () => (await balance(userId)).held === PRICE);
    const looked = jest.spyOn(money.stores.rows, "find");
    const joined = other.runs.run({ ...request, requestToken: "joined" });
    void joined.catch(() => undefined);
    // The lookup comes before the run is refused; a later one starts another attempt.
    await eventually(() => looked.mock.results.length > 0);
    await looked.mock.results[0]!.value;
    looked.mockRestore();
    await other.sweep();
    await expect(joined).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    expect(await money.stores.rows.findOwned(request.executionId, userId)).toBeNull();
    await eventually(async () => (await balance(userId)).held === 0);
    // The run's workflow started much later and had no effect.
    expect(await other.execution.claim(request.executionId, 1, "late")).toBeNull();
    // The next request is a new attempt with its own hold.
    const { row } = await runThrough(other, { ...request, requestToken: "again" });
    expect(row).toMatchObject({ attempt: 2 });
    expect(await balance(userId)).toEqual({ free: 10 * PRICE - 600, held: 0 });
  });

  it("after a place becomes free leaves a queued run that another process starts", async () => {
    const [userId, one, other] = [await fund(10 * PRICE), replica({ noBackground: true }), replica()];
    const [first, second] = [requestOf(userId), requestOf(userId)];
    const pendingRun = one.runs.run(first);
    await eventually(() => one.started.length === 1);
    await one.carry(one.started[0]!);
    await pendingRun;
    await money.stores.queues.change(userId, (queue) => ({ queue: { ...queue, running: ["lost"] }, result: undefined }));
    await one.runs.run(second);
    await other.sweep();
    expect(other.started.map(({ executionId }) => executionId)).toEqual([second.executionId]);
  });

  it("after the end leaves an outbox that another process delivers", async () => {
    const [userId, one, other] = [await fund(10 * PRICE), replica(), replica()];
    const input: RunInput = { ...runOf(userId, []), mode: "async", keyId: "key", webhook: { url: "https://x", events: [] } };
    const runEnd: RunEnd = { status: "completed", result: {}, error: null, requestId: null, nodes: [], completed: [] };
    const outbox = { deliverFirst: <Row>(row: Row): Promise<Row> => Promise.resolve(row) };
    await createEnd({ ...money, execution: one.execution, outbox }).end({ from: "plan", input, part: {} }, runEnd);
    await other.sweep();
    expect(money.delivered).toContain(input.executionId);
    expect(await money.stores.rows.find(input.executionId)).toMatchObject({ outbox: [] });
    expect(await money.usageRows(userId)).toMatchObject([{ status: "completed", executionId: input.executionId }]);
  });

  it("between a cancellation and its workflow leaves a run whose workflow another process informs", async () => {
    const [userId, one, other] = [await fund(10 * PRICE), replica(), replica()];
    const run = await money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: PRICE }]));
    await one.execution.requestCancel(run.executionId, userId);
    await other.sweep();
    expect(money.cancelled).toContain(run.executionId);
  });
});
