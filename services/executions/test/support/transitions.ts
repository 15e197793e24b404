import { unavailable } from "@nodeloom/kernel";
import type { FinalStatus } from "../../src/run/types";
import { isFinal, TRANSITIONS, type RunStatus, type TransitionName } from "../../src/run/states";
import { createProcess, type Fault, type Process } from "./faults";
import { startMoney, type Money } from "./money";
import { createWorld, PRICE, type Replica, type World } from "./world";

/**
 * Every transition × a process that dies or fails before and after each of its writes × a second process that continues. Cases are derived
 * from the table, so a transition without a scenario fails.
 */

/** An erased run has no data to compare; `erasure/deletion.test.ts` tests this transition. */
export const PLAYED_ELSEWHERE = ["erase"] as const satisfies readonly TransitionName[];
type PlayedTransition = Exclude<TransitionName, (typeof PLAYED_ELSEWHERE)[number]>;

/** Transitions are tested in two suites: at the start of runs, and at their end. */
export const BEGINNING: readonly PlayedTransition[] = ["queue", "claim", "refuse", "retry"];
export const ENDING: readonly PlayedTransition[] = ["cancel", "leave", "finish"];

let money: Money;

/** A run before a transition. */
interface Scene {
  id: string;
  /** Makes the transition in the process that can fail. */
  act(one: Replica): Promise<unknown>;
  /** Repeats the request. */
  again?: (one: Replica) => Promise<unknown>;
}
/** Prepares a run for a transition to a status. */
type Scenario = (world: World, healthy: Replica, to: RunStatus) => Promise<Scene>;

const DAY_MS = 25 * 3_600_000;

/** Waits until a run's workflow has started. */
const isOpen = async (world: World, id: string, pendingAnswer: Promise<unknown> = new Promise(() => undefined)): Promise<void> => {
  let answer: unknown;
  void pendingAnswer.then((reply) => {
    answer = reply;
  });
  while (!world.temporal.open.has(id)) {
    if (answer) throw new Error(`it was not started: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

/** A run with a started workflow, whose client hasn't got a response. */
const started = async (world: World, healthy: Replica, end: FinalStatus = "completed") => {
  const request = world.requestOf({}, { end });
  const pendingAnswer = world.ask(healthy, request, true);
  await isOpen(world, request.executionId, pendingAnswer);
  return { request, asked: pendingAnswer, id: request.executionId };
};
const running = async (world: World, healthy: Replica, end?: FinalStatus) => {
  const run = await started(world, healthy, end);
  await world.claim(run.id, () => healthy);
  await run.asked;
  return run;
};
/** A queued run without pending work. Pending work is done in the background, and a row that changes isn't swept. */
const waiting = async (world: World, healthy: Replica) => {
  const ahead = await running(world, healthy);
  const request = world.requestOf();
  const id = request.executionId;
  await world.ask(healthy, request, true);
  while ((await money.stores.rows.find(id))?.outbox?.length !== 0) await new Promise((resolve) => setTimeout(resolve, 2));
  return { request, id, ahead: ahead.id };
};
/** A process that holds credits, and then can neither start a workflow nor release them. */
const cutOff = (world: World): Replica => {
  const process = createProcess();
  const away = () => Promise.reject(unavailable("it is away"));
  const wrap: Process["wrap"] = (port, target) => {
    const lostCalls = { temporal: { start: away }, billing: { settle: away } }[port as string];
    // Methods of service clients can be accessed only by name.
    return lostCalls
      ? new Proxy(target, { get: (of, name) => (lostCalls as Record<string, unknown>)[String(name)] ?? (Reflect.get(of, name) as unknown) })
      : process.wrap(port, target);
  };
  return world.replica({ ...process, wrap });
};

export const SCENARIOS: Readonly<Record<PlayedTransition, Partial<Record<RunStatus, Scenario>>>> = {
  queue: {
    accepted: async (world, healthy) => {
      await running(world, healthy);
      const request = world.requestOf();
      const ask = (one: Replica) => world.ask(one, request);
      return { id: request.executionId, act: ask, again: ask };
    },
  },
  claim: {
    accepted: async (world, healthy) => {
      const { id, request } = await started(world, healthy);
      return { id, act: (one) => world.claim(id, () => one), again: (one) => world.ask(one, request) };
    },
    queued: async (world, healthy) => {
      const { id, ahead, request } = await waiting(world, healthy);
      await world.carry(ahead, () => healthy);
      await isOpen(world, id);
      return { id, act: (one) => world.claim(id, () => one), again: (one) => world.ask(one, request) };
    },
  },
  refuse: {
    accepted: async (world) => {
      // Each of two runs needs all credits, so the second finds none.
      const request = world.requestOf({ noQueue: true, maxMillicredits: PRICE - 1 });
      const ask = (one: Replica) => world.ask(one, request);
      return { id: request.executionId, act: ask, again: ask };
    },
  },
  retry: {
    refused: async (world) => {
      const request = world.requestOf();
      await world.ask(cutOff(world), request, true);
      const ask = (one: Replica) => world.ask(one, request);
      return { id: request.executionId, act: ask, again: ask };
    },
  },
  cancel: {
    processing: async (world, healthy) => {
      const { id } = await running(world, healthy);
      const act = (one: Replica) => one.cancellation.cancel(id, world.userId);
      return { id, act, again: act };
    },
  },
  leave: {
    queued: async (world, healthy, to) => {
      const { id } = await waiting(world, healthy);
      if (to === "cancelled") {
        const act = (one: Replica) => one.cancellation.cancel(id, world.userId);
        return { id, act, again: act };
      }
      return { id, act: (one) => world.replica(one.process, DAY_MS).sweep() };
    },
  },
  finish: {
    processing: async (world, healthy, to) => {
      const { id, request } = await running(world, healthy, to as FinalStatus);
      // An operator's cancellation doesn't change the row before the run ends.
      if (to === "cancelled") world.temporal.open.get(id)!.isCancelled = true;
      return { id, act: (one) => world.carry(id, () => one), again: (one) => world.ask(one, request) };
    },
    cancel_requested: async (world, healthy) => {
      const { id, request } = await running(world, healthy);
      await healthy.cancellation.cancel(id, world.userId);
      return { id, act: (one) => world.carry(id, () => one), again: (one) => world.ask(one, request) };
    },
  },
};

interface Case {
  name: PlayedTransition;
  from: RunStatus;
  to: RunStatus;
}
export const CASES: Case[] = (Object.keys(TRANSITIONS) as TransitionName[])
  .filter((name) => name !== "erase")
  .flatMap((name) =>
    (Object.entries(TRANSITIONS[name]) as [RunStatus, readonly RunStatus[]][]).flatMap(([from, targets]) =>
      targets.map((to) => ({ name, from, to })),
    ),
  );

/** Result of the failing process. A call ends on its own or together with the process. */
const played = async (one: Replica, act: (one: Replica) => Promise<unknown>): Promise<void> => {
  await Promise.race([act(one).catch(() => undefined), one.process.death]);
};

/** Runs a case with one fault. @returns its writes, and the violated rules */
const play = async ({ name, from, to }: Case, fault?: Fault): Promise<{ writes: readonly string[]; faults: string[] }> => {
  const world = await createWorld(money);
  const healthy = world.replica();
  const scenario = SCENARIOS[name][from];
  if (!scenario) throw new Error(`${name} from ${from} has no scenario`);
  const { id, act, again } = await scenario(world, healthy, to);
  const before = (await money.stores.rows.find(id))?.status ?? "accepted";
  const process = createProcess();
  const failing = world.replica(process);
  process.arm(fault);
  await played(failing, act);
  const writes = [...process.writes];
  process.kill();
  const other = world.replica();
  await world.settle(() => other);
  const faults = await world.faults();
  const label = `${from} → ${to} of ${id}`;
  if (before !== from) faults.push(`${label}: it was ${before}`);
  const row = await money.stores.rows.find(id);
  if (!fault && isFinal({ status: to }) && row?.status !== to) faults.push(`${label}: it is ${row?.status}`);
  if (!fault && to === "refused" && row?.status !== to) faults.push(`${label}: it is ${row?.status}`);
  if (again) {
    await world.carryUntil(again(other), () => other);
    await world.settle(() => other);
    faults.push(...(await world.faults()).map((one) => `asked again, ${one}`));
  }
  return { writes, faults };
};

const AT_ONCE = 6;
const each = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const remaining = [...items];
  const worker = async (): Promise<void> => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

export const describeTransitions = (names: readonly TransitionName[]): void => {
  beforeAll(async () => {
    money = await startMoney();
  });
  afterAll(() => money.stopBalanced());

  describe.each(CASES.filter(({ name }) => names.includes(name)))("$name: $from → $to", (one) => {
    it("ends each accepted run once, charges it once, reports the truth and leaves no pending work, whichever write fails", async () => {
      const { writes, faults } = await play(one);
      expect(faults).toEqual([]);
      expect(writes.length).toBeGreaterThan(0);
      const variants: Fault[] = writes.flatMap((_, at) =>
        (["before", "after"] as const).flatMap((when) => (["dies", "fails"] as const).map((how): Fault => ({ at, when, how }))),
      );
      const faultTexts: string[] = [];
      await each(variants, async (fault) => {
        const { faults: wrong } = await play(one, fault);
        faultTexts.push(...wrong.map((what) => `${writes[fault.at]} ${fault.how} ${fault.when}: ${what}`));
      });
      expect(faultTexts).toEqual([]);
    });
  });
};
