import { randomUUID } from "node:crypto";
import type { EventChannel } from "../../src/record/events";
import { executions } from "@nodeloom/proto";
import { createExecution } from "../../src/lifecycle/execution";
import type { Planning, PlannedRun } from "../../src/plan/planning";
import { createRuns, type Runs } from "../../src/lifecycle/runs";
import type { ExecutionStore } from "../../src/record/store";
import type { RunStarter } from "../../src/temporal/client";
import { newRecord, openStore } from "../support/index";

/** A run that Temporal carries, and that no row tells of yet. */
const carried = { id: randomUUID(), userId: randomUUID(), since: new Date("2030-01-01T00:00:00Z") };
const told: string[] = [];

let store: ExecutionStore;
let stop: () => Promise<void>;
let runs: Runs;

beforeAll(async () => {
  ({ store, stop } = await openStore());
  const channel: EventChannel = { publish: () => undefined, subscribe: () => () => undefined } as unknown as EventChannel;
  const starter = {
    carriedSince: async (id: string, userId: string) => (id === carried.id && userId === carried.userId ? carried.since : null),
    cancel: async (id: string) => void told.push(id),
  } as unknown as RunStarter;
  runs = createRuns({ planning: {} as Planning, starter, store, channel, execution: createExecution({ store, channel }) });
});
afterAll(() => stop());

it("finds an accepted run while its admission is under way, for its owner only", async () => {
  expect(await runs.get(carried.id, carried.userId)).toMatchObject({ _id: carried.id, status: "processing", createdAt: carried.since });
  await expect(runs.get(carried.id, randomUUID())).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  await expect(runs.get(randomUUID(), carried.userId)).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
});

it("cancels an accepted run while its admission is under way, for its owner only", async () => {
  await expect(runs.cancel(carried.id, randomUUID())).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  expect(told).toEqual([]);
  expect(await runs.cancel(carried.id, carried.userId)).toBe("cancel_requested");
  expect(told).toEqual([carried.id]);
});

it("hears a refusal that is told while the store is read, though Temporal still carries the run", async () => {
  const listeners = new Set<Parameters<EventChannel["subscribe"]>[1]>();
  const channel = {
    subscribe: (_id: string, listener: Parameters<EventChannel["subscribe"]>[1]) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } as unknown as EventChannel;
  const refusal = { kind: "unavailable", reason: "SERVICE_UNAVAILABLE", message: "billing is not available", metadata: {} };
  let isTold = false;
  const find = async (): Promise<null> => {
    if (!isTold) for (const listener of [...listeners]) listener({ sequence: 0, type: "refused", at: 0, data: refusal });
    isTold = true;
    return null;
  };
  const planned = { plan: { steps: [] }, workflowSlug: null, modelIds: [], holds: [] } as unknown as PlannedRun;
  const refusing = createRuns({
    planning: { plan: () => Promise.resolve(planned) } as unknown as Planning,
    starter: { start: () => Promise.resolve("started"), outcome: () => Promise.resolve("running") } as unknown as RunStarter,
    store: { ...store, find },
    channel,
    execution: createExecution({ store, channel }),
  });
  const request = executions.RunRequest.fromPartial({
    executionId: randomUUID(),
    runner: { userId: "u" },
    mode: executions.RunMode.RUN_MODE_ASYNC,
    waitMs: 10,
  });
  await expect(refusing.run(request)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
});

it("answers from the row as soon as there is one", async () => {
  const record = newRecord(carried.userId, { status: "completed" });
  await store.insert(record);
  expect(await runs.cancel(record._id, carried.userId)).toBe("already_completed");
  expect((await runs.get(record._id, carried.userId)).status).toBe("completed");
});

describe("a run whose admission takes long", () => {
  /** Asks for such a run, whose caller waits for a second. */
  const ask = (executionId: string): ReturnType<Runs["run"]> => {
    const request = executions.RunRequest.fromPartial({
      executionId,
      runner: { userId: carried.userId },
      mode: executions.RunMode.RUN_MODE_ASYNC,
    });
    return slow.run(request, Date.now() + 2_000);
  };
  const refusal = { kind: "unavailable", reason: "SERVICE_UNAVAILABLE", message: "billing is away", metadata: {} } as const;
  let slow: Runs;
  const started: string[] = [];

  beforeAll(() => {
    const channel: EventChannel = { publish: () => undefined, subscribe: () => () => undefined };
    const planned = { plan: { steps: [{}], markupPermille: 1_000 }, holds: [], workflowSlug: null, modelIds: [] };
    const planning = { plan: () => Promise.resolve(planned) } as unknown as Planning;
    // Temporal carries it, whatever was said of it: what it may have held is still being given back.
    const starter = {
      start: ({ executionId }: { executionId: string }) => Promise.resolve(started.push(executionId)).then(() => "started"),
      outcome: () => Promise.resolve("running"),
      carriedSince: () => Promise.resolve(new Date()),
    } as unknown as RunStarter;
    slow = createRuns({ planning, starter, store, channel, execution: createExecution({ store, channel }) });
  });

  it("is answered as under way, and can't be refused any more", async () => {
    const id = randomUUID();
    expect(await ask(id)).toMatchObject({ _id: id, status: "processing" });
    expect(await store.decideAdmission(id, refusal)).toBeNull();
  });

  it("is not answered as under way once it is refused, though Temporal carries it still", async () => {
    const id = randomUUID();
    await store.decideAdmission(id, refusal);
    await expect(ask(id)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE", message: "billing is away" });
    await expect(slow.get(id, carried.userId)).rejects.toMatchObject({ reason: "EXECUTION_NOT_FOUND" });
  });

  it("is not begun when nobody waits for it any more", async () => {
    const id = randomUUID();
    const request = executions.RunRequest.fromPartial({ executionId: id, runner: { userId: carried.userId } });
    await expect(slow.run(request, Date.now())).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    expect(started).not.toContain(id);
  });
});

it("begins another user's run in its turn, however many of one user wait", async () => {
  const order: string[] = [];
  const begun: (() => void)[] = [];
  const channel: EventChannel = { publish: () => undefined, subscribe: () => () => undefined };
  const starter = {
    start: ({ userId }: { userId: string }) =>
      new Promise<"started">((resolve) => {
        order.push(userId);
        begun.push(() => resolve("started"));
      }),
  } as unknown as RunStarter;
  const planned = { plan: { steps: [] }, workflowSlug: null, modelIds: [], holds: [] } as unknown as PlannedRun;
  const planning = { plan: () => Promise.resolve(planned) } as unknown as Planning;
  const execution = createExecution({ store, channel });
  const queue = createRuns({ planning, starter, store: { ...store, find: () => Promise.resolve(final) }, channel, execution });
  const final = newRecord("any", { status: "completed" });
  const ask = (userId: string): Promise<unknown> =>
    queue.run(executions.RunRequest.fromPartial({ executionId: randomUUID(), runner: { userId }, waitMs: 60_000 })).catch(() => undefined);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  const all = Array.from({ length: 200 }, () => ask("busy"));
  await turn();
  const atOnce = order.length;
  expect(atOnce).toBeGreaterThan(0);
  expect(atOnce).toBeLessThan(50);
  all.push(ask("other"));
  for (let next = 0; next < 201; next += 1) {
    while (begun.length <= next) await turn();
    begun[next]!();
  }
  await Promise.all(all);
  // Those that are being begun, one more of the busy user at most, and then it is the other's turn.
  expect(order.indexOf("other")).toBeLessThanOrEqual(atOnce + 1);
});
