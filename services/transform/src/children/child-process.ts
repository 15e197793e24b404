import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { lastPrinted, watchMemory, yieldToOthers } from "@nodeloom/platform";
import { BOUNDS } from "../bounds";
import { WorkFailure, type FromChild, type ToChild, type WorkRequest, type WorkResult } from "./protocol";

/** The parent's side of one child process. A process that crashes, hangs or uses too much memory is ended. */

export interface ChildOptions {
  /** Path of the program that the child runs. */
  program: string;
  /** Command prefix from `networkIsolation`. */
  isolation: readonly string[];
  memoryBytes?: number;
}

export interface Child {
  readonly pid: number;
  /**
   * Works on a request; only one can run at a time. After a failure other than an input error, the process has ended. @throws WorkFailure,
   * or the signal's reason
   */
  work(request: WorkRequest, limits: { timeMs: number; signal?: AbortSignal | undefined }): Promise<WorkResult>;
  isAlive(): boolean;
  end(): void;
  exit: Promise<void>;
}

const MEMORY_LOOK_MS = 100;
const START_MS = 30_000;
const MB = 1_024 * 1_024;
/** Heap of Node.js in MiB. Image buffers are outside it. */
const HEAP_MB = 256;

/** Letters keep their outlines at every size, as in browsers, and no font of the machine is used. */
const FONTCONFIG_FILE = join(__dirname, "..", "..", "fonts.conf");

/** Environment of the child, without the platform's secrets. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, LANG } = process.env;
  return { PATH, LANG, MALLOC_ARENA_MAX: "2", FONTCONFIG_FILE };
};

/** Starts the child as the leader of a process group, so that its own children end with it. */
const start = ({ program, isolation }: ChildOptions): ChildProcess => {
  const [command = process.execPath, ...args] = [...isolation, process.execPath, `--max-old-space-size=${HEAP_MB}`, program];
  const child = spawn(command, args, { env: environment(), stdio: ["ignore", "ignore", "pipe", "ipc"], detached: true });
  yieldToOthers(child);
  return child;
};

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All processes of the group have already ended.
  }
};

interface Waiting {
  resolve(message: FromChild): void;
  reject(error: unknown): void;
}

/** Starts a process and waits until it is ready. @throws WorkFailure */
export const startChild = async (options: ChildOptions): Promise<Child> => {
  const { memoryBytes = BOUNDS.memoryBytes } = options;
  const child = start(options);
  let waiting: Waiting | undefined;
  let reason: WorkFailure | undefined;
  let isEnding = false;
  const lastLine = lastPrinted(child);

  const end = (why?: WorkFailure): void => {
    reason ??= why;
    isEnding = true;
    killGroup(child);
  };
  const settle = (): Waiting | undefined => {
    const settled = waiting;
    waiting = undefined;
    return settled;
  };
  const overMemory = `it takes more than the ${Math.round(memoryBytes / MB)} MB of memory that an operation may take`;
  const unwatch = watchMemory(child, {
    mostBytes: memoryBytes,
    everyMs: MEMORY_LOOK_MS,
    onMore: () => end(new WorkFailure("bounds", overMemory)),
  });
  const exit = new Promise<void>((resolve) => {
    const onEnd = (how: string): void => {
      unwatch();
      killGroup(child);
      const last = lastLine();
      settle()?.reject(reason ?? new WorkFailure("ended", `the process that worked on it ended (${how})${last === "" ? "" : `: ${last}`}`));
      resolve();
    };
    child.once("exit", (code, signal) => onEnd(signal ?? `code ${code}`));
    child.once("error", (error) => onEnd(error.message));
  });
  child.on("message", (message: FromChild) => settle()?.resolve(message));

  const answer = async (send: () => void, timeMs: number, signal?: AbortSignal): Promise<FromChild> => {
    signal?.throwIfAborted();
    const late = new WorkFailure("bounds", `it takes longer than the ${Math.round(timeMs / 1_000)} s that an operation may take`);
    const timer = setTimeout(() => end(late), timeMs);
    const abort = (): void => {
      settle()?.reject(signal?.reason);
      end();
    };
    try {
      return await new Promise<FromChild>((resolve, reject) => {
        waiting = { resolve, reject };
        signal?.addEventListener("abort", abort, { once: true });
        if (child.exitCode !== null || child.signalCode !== null) return reject(reason ?? new WorkFailure("ended", "the process is gone"));
        send();
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  };

  try {
    await answer(() => undefined, START_MS);
  } catch (error) {
    end();
    throw error;
  }
  return {
    pid: child.pid!,
    work: async (request, { timeMs, signal }) => {
      const message: ToChild = { type: "work", request };
      const send = (): void =>
        void child.send(message, (error) => error && settle()?.reject(new WorkFailure("ended", "the process is gone")));
      const answered = await answer(send, timeMs, signal);
      if (answered.type === "done") return answered.result;
      if (answered.type === "failed") throw new WorkFailure(answered.isInput ? "input" : "fault", answered.message);
      throw new WorkFailure("fault", "the process spoke out of turn");
    },
    isAlive: () => !isEnding && child.exitCode === null && child.signalCode === null,
    end: () => end(),
    exit,
  };
};
