import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { unavailable } from "@nodeloom/kernel";
import { type AddressRulesOptions, createSlots, type Logger, NoSlot } from "@nodeloom/platform";
import type { PlanTaskOptions } from "./plan-task";
import type { PlanAnswer, Planner, PlanTask } from "./protocol";

/** Planning of one process: threads, tasks that may wait for them, how long one may wait and take, and its heap. */
export const PLANNING = { threads: 2, waiting: 2_000, maxWaitMs: 8_000, maxTaskMs: 5_000, heapMb: 384, youngHeapMb: 32 } as const;

/** Where the built thread lies, whether this runs from src/ or dist/. */
const THREAD = join(__dirname, "..", "..", "..", "dist", "plan", "planner", "thread.js");

export interface ThreadOptions {
  logger: Logger;
  addresses?: AddressRulesOptions;
  maxTaskMs?: number;
  heapMb?: number;
  /** The thread's script. */
  script?: string;
}

export type PlannerThreads = ReturnType<typeof createPlannerThreads>;

/**
 * Plans in worker threads with a heap and a time of their own, so that no graph holds or ends the process. Users take
 * turns. A thread that passed its limits is replaced; what it planned is refused as unavailable.
 */
export const createPlannerThreads = (options: ThreadOptions) => {
  const { logger, addresses, maxTaskMs = PLANNING.maxTaskMs, heapMb = PLANNING.heapMb, script = THREAD } = options;
  const turns = createSlots({ concurrency: PLANNING.threads, queueLimit: PLANNING.waiting });
  const idle: Worker[] = [];
  const alive = new Set<Worker>();

  const start = (): Worker => {
    // Plans need nothing of the process's environment, which has secrets.
    const thread = new Worker(script, {
      env: {},
      workerData: { addresses } satisfies PlanTaskOptions,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: PLANNING.youngHeapMb },
    });
    thread.unref();
    alive.add(thread);
    thread.once("exit", () => alive.delete(thread));
    // Of a thread that ends between two tasks there is nothing to tell.
    thread.on("error", () => undefined);
    return thread;
  };

  const onThread = async (task: PlanTask): Promise<PlanAnswer> => {
    const known = idle.pop();
    const isRunning = known !== undefined && alive.has(known);
    const thread = isRunning ? known : start();
    try {
      // A thread's start is not a task's time.
      if (!isRunning) await once(thread, "online");
      thread.postMessage(task);
      const [answer] = (await once(thread, "message", { signal: AbortSignal.timeout(maxTaskMs) })) as [PlanAnswer];
      idle.push(thread);
      return answer;
    } catch (error) {
      void thread.terminate();
      logger.warn({ err: error, target: "graph" in task.target ? task.target.graph.key : task.target.model }, "a plan passed its limits");
      throw unavailable("planning this run takes too much time or memory", 5);
    }
  };

  const plan: Planner = (task, { userId }) =>
    turns
      .use(() => onThread(task), { key: userId, maxWaitMs: PLANNING.maxWaitMs })
      .catch((error: unknown) => {
        throw error instanceof NoSlot ? unavailable("too many runs are being planned", 2) : error;
      });

  return {
    plan,
    load: turns.load,
    stop: async (): Promise<void> => {
      await Promise.all([...alive].map((thread) => thread.terminate()));
    },
  };
};
