import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { DomainError, unavailable } from "@nodeloom/kernel";
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

interface Thread {
  run(task: PlanTask): Promise<PlanAnswer>;
  isAlive(): boolean;
  stop(): Promise<unknown>;
}

/** Why a task ended without an answer. */
class TaskLost extends Error {
  override readonly name = "TaskLost";
}

const startThread = ({ addresses, maxTaskMs = PLANNING.maxTaskMs, heapMb = PLANNING.heapMb, script = THREAD }: ThreadOptions): Thread => {
  // Plans need nothing of the process's environment, which has secrets.
  const worker = new Worker(script, {
    env: {},
    workerData: { addresses } satisfies PlanTaskOptions,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: PLANNING.youngHeapMb },
  });
  worker.unref();
  let alive = true;
  let fail: (error: Error) => void = () => undefined;
  const end = (error: Error): void => {
    alive = false;
    fail(error);
  };
  worker.on("error", end);
  worker.on("exit", () => end(new TaskLost("the planner's thread ended")));
  // A thread's start is not a task's time.
  const online = new Promise<void>((resolve) => worker.once("online", resolve));
  const run = (task: PlanTask): Promise<PlanAnswer> =>
    new Promise<PlanAnswer>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const expire = (): void => {
        end(new TaskLost(`planning took longer than ${maxTaskMs} ms`));
        void worker.terminate();
      };
      void online.then(() => {
        if (!isOver) timer = setTimeout(expire, maxTaskMs);
      });
      const settle = (): void => {
        isOver = true;
        clearTimeout(timer);
        worker.off("message", answer);
        fail = () => undefined;
      };
      const answer = (given: PlanAnswer): void => {
        settle();
        resolve(given);
      };
      fail = (error) => {
        settle();
        reject(error);
      };
      worker.on("message", answer);
      worker.postMessage(task);
    });
  return { run, isAlive: () => alive, stop: () => worker.terminate() };
};

export interface PlannerThreads {
  plan: Planner;
  load(): { inUse: number; waiting: number };
  stop(): Promise<void>;
}

/**
 * Plans in worker threads with a heap and a time of their own, so that no graph holds or ends the process. Users take
 * turns. A thread that passed its limits is replaced; what it planned is refused as unavailable.
 */
export const createPlannerThreads = (options: ThreadOptions): PlannerThreads => {
  const { logger } = options;
  const turns = createSlots({ concurrency: PLANNING.threads, queueLimit: PLANNING.waiting });
  const idle: Thread[] = [];
  const threads = new Set<Thread>();

  const take = (): Thread => {
    const known = idle.pop();
    if (known?.isAlive()) return known;
    if (known) threads.delete(known);
    const thread = startThread(options);
    threads.add(thread);
    return thread;
  };

  const onThread = async (task: PlanTask): Promise<PlanAnswer> => {
    const thread = take();
    try {
      return await thread.run(task);
    } catch (error) {
      logger.warn({ err: error, target: "graph" in task.target ? task.target.graph.key : task.target.model }, "a plan passed its limits");
      throw unavailable("planning this run takes too much time or memory", 5);
    } finally {
      if (thread.isAlive()) idle.push(thread);
      else threads.delete(thread);
    }
  };

  return {
    plan: async (task, { userId }) => {
      try {
        return await turns.use(() => onThread(task), { key: userId, maxWaitMs: PLANNING.maxWaitMs });
      } catch (error) {
        if (error instanceof DomainError) throw error;
        throw error instanceof NoSlot ? unavailable("too many runs are being planned", 2) : error;
      }
    },
    load: turns.load,
    stop: async () => {
      await Promise.all([...threads].map((thread) => thread.stop()));
    },
  };
};
