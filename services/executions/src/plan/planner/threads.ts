import { join } from "node:path";
import { unavailable } from "@nodeloom/kernel";
import { Piscina } from "piscina";
import { type AddressRulesOptions, createSlots, type Logger, NoSlot } from "@nodeloom/platform";
import type { LocalPlannerOptions } from "./local";
import type { Caller, Planner } from "./protocol";
import type { ThreadWork } from "./thread";

/** Limits of one process: planning threads, waiting tasks, deadlines for a turn, a thread's start and a task, and heap size. */
export const PLANNING = {
  threads: 2,
  waiting: 2_000,
  maxWaitMs: 8_000,
  maxStartMs: 20_000,
  maxTaskMs: 5_000,
  heapMb: 384,
  youngHeapMb: 32,
} as const;

/** Path of the built script, both from src/ and from dist/. */
const THREAD = join(__dirname, "..", "..", "..", "dist", "plan", "planner", "thread.js");

export interface ThreadOptions {
  logger: Logger;
  addresses?: AddressRulesOptions;
  maxStartMs?: number;
  maxTaskMs?: number;
  heapMb?: number;
  script?: string;
}

export type PlannerThreads = ReturnType<typeof createPlannerThreads>;

/**
 * Plans in worker threads with limited heap and time, so that no graph blocks or ends the process. Users take turns. A thread that exceeds
 * its limits is replaced, and its task fails as unavailable.
 */
export const createPlannerThreads = (options: ThreadOptions) => {
  const { logger, addresses, script = THREAD } = options;
  const { maxStartMs, maxTaskMs, heapMb } = { ...PLANNING, ...options };
  const turns = createSlots({ concurrency: PLANNING.threads, queueLimit: PLANNING.waiting });
  const pool = new Piscina<ThreadWork<unknown>, unknown>({
    filename: script,
    minThreads: 0,
    maxThreads: PLANNING.threads,
    idleTimeout: Infinity,
    // The environment contains secrets, which planning doesn't need.
    env: {},
    execArgv: [],
    atomics: "disabled",
    workerData: { addresses } satisfies LocalPlannerOptions,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: PLANNING.youngHeapMb },
  });
  // If a thread ends between two tasks, no work is lost.
  pool.on("error", () => undefined);
  /** Callbacks by task number. Each starts the clock of its task when a thread starts the task. */
  const clocks = new Map<number, () => void>();
  pool.on("message", (id: number) => clocks.get(id)?.());
  let taskCount = 0;

  const onThread = async <T>(name: keyof Planner, argument: unknown, target: string): Promise<T> => {
    const id = (taskCount += 1);
    const late = new AbortController();
    const within = (ms: number): NodeJS.Timeout => setTimeout(() => late.abort(), ms);
    let timer = within(maxStartMs);
    clocks.set(id, () => {
      clearTimeout(timer);
      timer = within(maxTaskMs);
    });
    try {
      return (await pool.run({ id, task: argument }, { name, signal: late.signal })) as T;
    } catch (error) {
      logger.warn({ err: error, target }, "a plan passed its limits");
      throw unavailable("planning this run takes too much time or memory: make the graph or its inputs smaller", 5);
    } finally {
      clearTimeout(timer);
      clocks.delete(id);
    }
  };

  const inTurn = <T>(work: () => Promise<T>, { userId }: Caller): Promise<T> =>
    turns.use(work, { key: userId, maxWaitMs: PLANNING.maxWaitMs }).catch((error: unknown) => {
      throw error instanceof NoSlot ? unavailable("too many runs are being planned", 2) : error;
    });

  const planner: Planner = {
    needs: (graph, caller) => inTurn(() => onThread("needs", graph, graph.key), caller),
    plan: (task, caller) =>
      inTurn(() => onThread("plan", task, "graph" in task.target ? task.target.graph.key : task.target.model), caller),
  };
  return { ...planner, load: turns.load, stop: () => pool.destroy() };
};
