import { createSlots, type WaitOptions } from "@nodeloom/platform";
import { BOUNDS } from "../bounds";
import { startChild, type Child, type ChildOptions } from "./child-process";
import type { WorkRequest, WorkResult } from "./protocol";

/** A pool of started child processes. Each runs one operation at a time and is replaced after a number of operations. */

export interface PoolOptions extends ChildOptions {
  concurrency: number;
  queueLimit?: number;
  callsPerChild?: number;
}

export interface WorkOptions {
  /** Users take turns in the queue. */
  userId: string;
  timeMs: number;
  signal?: AbortSignal | undefined;
}

export interface Pool {
  /** Waits for a turn; users take turns. @throws NoSlot if the queue is full */
  enter(options: Pick<WaitOptions, "key" | "signal" | "maxWaitMs">): Promise<() => void>;
  /** Works on a request. Call it only during a turn. @throws WorkFailure, or the signal's reason */
  work(request: WorkRequest, options: Pick<WorkOptions, "timeMs" | "signal">): Promise<WorkResult>;
  load(): { inUse: number; waiting: number };
  pids(): number[];
  stop(): Promise<void>;
}

export const createPool = (options: PoolOptions): Pool => {
  const { concurrency, queueLimit = BOUNDS.queueLimit, callsPerChild = BOUNDS.callsPerChild } = options;
  const slots = createSlots({ concurrency, queueLimit });
  const idle: Child[] = [];
  const all = new Map<Child, number>();
  let isStopped = false;

  const begin = async (): Promise<Child> => {
    const child = await startChild(options);
    all.set(child, 0);
    void child.exit.then(() => all.delete(child));
    if (isStopped) child.end();
    return child;
  };

  const take = async (): Promise<Child> => {
    for (let child = idle.pop(); child; child = idle.pop()) if (child.isAlive()) return child;
    return begin();
  };

  const giveBack = (child: Child): void => {
    if (!child.isAlive()) return;
    const calls = (all.get(child) ?? 0) + 1;
    all.set(child, calls);
    if (calls >= callsPerChild || isStopped) child.end();
    else idle.push(child);
  };

  // Starts a process in advance for the first operation.
  void begin().then(
    (child) => idle.push(child),
    () => undefined,
  );

  return {
    enter: (wait) => slots.enter(wait),
    work: async (request, limits) => {
      const child = await take();
      try {
        return await child.work(request, limits);
      } finally {
        giveBack(child);
      }
    },
    load: () => slots.load(),
    pids: () => [...all.keys()].map(({ pid }) => pid),
    stop: async () => {
      isStopped = true;
      const children = [...all.keys()];
      for (const child of children) child.end();
      await Promise.all(children.map(({ exit }) => exit));
    },
  };
};
