import fc from "fast-check";
import type { executions } from "@nodeloom/proto";
import { createProcess } from "../support/faults";
import { createInterleaving } from "../support/interleaving";
import { startMoney, type Money } from "../support/money";
import { createWorld, COST, PRICE, type Replica, type RunPlan, type World } from "../support/world";

/**
 * Random interleavings of requests, cancellations, sweeps, renewals, crashes, and of workflows that are terminated or fail. A few runs on
 * two replicas use the real store, billing and usage.
 */

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stopBalanced());

const RUNS = 3;
const REPLICAS = 2;

type Deed =
  | { what: "ask" | "cancel" | "terminate" | "fail a task"; run: number; replica: number }
  | { what: "sweep" | "sweep a day later" | "reconcile" | "cancel all that waits" | "die"; replica: number };

const replica = fc.nat({ max: REPLICAS - 1 });
const run = fc.nat({ max: RUNS - 1 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant("ask" as const), run, replica }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("cancel" as const), run, replica }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom("terminate" as const, "fail a task" as const), run, replica }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom("sweep", "sweep a day later", "reconcile", "cancel all that waits", "die"),
      replica,
    }),
  },
);

const scene = fc.record({
  plans: fc.array(
    fc.record({ calls: fc.nat({ max: 2 }), more: fc.nat({ max: 1 }), end: fc.constantFrom("completed" as const, "failed" as const) }),
    { minLength: RUNS, maxLength: RUNS },
  ),
  /** Sequential steps, each by its own client or process. */
  stories: fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  concurrency: fc.constantFrom(0, 1, 2),
  noQueue: fc.boolean(),
  funds: fc.constantFrom(2 * PRICE, 4 * PRICE, 20 * PRICE),
  choices: fc.array(fc.nat({ max: 11 }), { minLength: 8, maxLength: 60 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

/** Charges of completed runs, which follow additional rules. */
const pricesOf = async (world: World, plans: readonly RunPlan[], requests: readonly executions.RunRequest[]): Promise<string[]> => {
  const rows = await Promise.all(requests.map(({ executionId }) => money.stores.rows.find(executionId)));
  return rows.flatMap((row, index) => {
    if (row?.status !== "completed") return [];
    const { calls = 0, more = 0 } = plans[index]!;
    const price = COST * (calls === 0 ? 0 : calls + more);
    return row.millicredits === price ? [] : [`run ${index} completed for ${row.millicredits} instead of ${price}`];
  });
};

const play = async ({
  plans,
  stories,
  concurrency,
  noQueue,
  funds,
  choices,
}: Scene): Promise<{ faults: string[]; order: readonly string[] }> => {
  const world = await createWorld(money, { funds });
  const { turn, run: interleave, order } = createInterleaving(choices);
  const newReplica = (): Replica => world.replica(createProcess(turn));
  const replicas = Array.from({ length: REPLICAS }, newReplica);
  const requests = plans.map((plan) => world.requestOf({ concurrency, noQueue }, plan));
  const tomorrow = new Map<number, Replica>();

  const does: Record<Deed["what"], (one: Replica, index: number, request: executions.RunRequest) => Promise<unknown>> = {
    ask: (one, _, request) => world.ask(one, request),
    cancel: (one, _, { executionId }) => one.cancellation.cancel(executionId, world.userId),
    terminate: async (_one, _, { executionId }) => world.temporal.open.delete(executionId),
    "fail a task": async (_one, _, { executionId }) => {
      const carriedRun = world.temporal.open.get(executionId);
      if (carriedRun) carriedRun.isFailing = true;
    },
    sweep: (one) => one.sweep(),
    "sweep a day later": (_, index) => tomorrow.get(index)!.sweep(),
    reconcile: (one) => one.reconcile(() => undefined),
    "cancel all that waits": (one) => one.cancellation.cancelQueued(world.userId),
    die: async (one, index) => {
      one.process.kill();
      tomorrow.get(index)!.process.kill();
      replicas[index] = newReplica();
      tomorrow.set(index, world.replica(createProcess(turn), 25 * 3_600_000));
    },
  };
  for (let index = 0; index < REPLICAS; index += 1) tomorrow.set(index, world.replica(createProcess(turn), 25 * 3_600_000));

  const tell = async (story: readonly Deed[]): Promise<void> => {
    for (const { what, replica: index, ...of } of story) {
      const one = replicas[index]!;
      const doing = does[what](one, index, requests["run" in of ? of.run : 0]!).catch(() => undefined);
      await Promise.race([doing, one.process.death]);
    }
  };
  let isOver = false;
  let turns = 0;
  /** Carries out started workflows, alternating between replicas. */
  const carryAll = async (): Promise<void> => {
    const by = (): Replica => replicas[(turns += 1) % REPLICAS]!;
    const carrying = new Map<unknown, Promise<void>>();
    while (!isOver || carrying.size > 0) {
      for (const [id, one] of world.temporal.open) {
        if (!carrying.has(one))
          carrying.set(
            one,
            world.carry(id, by).finally(() => carrying.delete(one)),
          );
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const telling = Promise.all(stories.map(tell)).finally(() => {
    isOver = true;
  });
  await interleave([telling, carryAll()]);
  for (const one of [...replicas, ...tomorrow.values()]) one.process.kill();
  const last = world.replica();
  await world.settle(() => last);
  await last.reconcile(() => undefined);
  await world.settle(() => last);
  return { faults: [...(await world.faults()), ...(await pricesOf(world, plans, requests))], order };
};

/** Number of parallel scenes. Each has its own users and runs, and makes one call at a time. */
const AT_ONCE = 4;

it("ends each accepted run once, charges it once and reports the truth, in any order of events", async () => {
  const scenes = Number(process.env.INTERLEAVINGS ?? 60);
  const playSome = () =>
    fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const { faults, order } = await play(one);
        if (faults.length > 0) throw new Error(`${faults.join("\n")}\nafter ${order.join(" ")}`);
      }),
      {
        numRuns: Math.ceil(scenes / AT_ONCE),
        endOnFailure: Boolean(process.env.END_ON_FAILURE),
        interruptAfterTimeLimit: 150_000,
      },
    );
  const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, playSome));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
});
