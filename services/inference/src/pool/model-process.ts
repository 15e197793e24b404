import { fork, type ChildProcess } from "node:child_process";
import { lastPrinted, watchMemory, yieldToOthers } from "@nodeloom/platform";
import type { EngineRequest, EngineResult, Report } from "../engines/engine";
import type { FromChild, StartOptions, ToChild } from "../engines/protocol";

/** One model's process, as its owner sees it: it may crash, hang or take too much memory, and is ended for it. */

/** What became of a request, other than a result. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  constructor(
    /** input: what was asked can't be done; ended: the process went, whyever; bounds: it was ended for what it used; engine: all else. */
    readonly kind: "input" | "ended" | "bounds" | "engine",
    message: string,
  ) {
    super(message);
  }
}

export interface ProcessLimits {
  memoryBytes: number;
  loadMs: number;
  runMs: number;
}

export interface ModelProcess {
  readonly pid: number;
  /** One at a time. @throws ModelFailure, or the signal's reason; the process is gone after most of them */
  run(request: EngineRequest, report: Report, signal?: AbortSignal): Promise<EngineResult>;
  /** Whether it can take a request. */
  isAlive(): boolean;
  /** Ends it at once. */
  end(): void;
  ended: Promise<void>;
}

const MEMORY_LOOK_MS = 250;
const MB = 1_024 * 1_024;

/** All that a model's process gets to know of ours: no secrets. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG, MALLOC_ARENA_MAX: "2" };
};

const spawn = (program: string, { memoryBytes }: ProcessLimits): ChildProcess => {
  const child = fork(program, [], {
    env: environment(),
    execArgv: [`--max-old-space-size=${Math.round(memoryBytes / MB)}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
  });
  yieldToOthers(child);
  return child;
};

interface Running {
  report: Report;
  resolve(result: EngineResult): void;
  reject(error: unknown): void;
}

const seconds = (ms: number): number => Math.round(ms / 1_000);

/**
 * Starts a process and loads its model.
 * @param program path of the program; `engines/child.mjs` but in tests
 * @throws ModelFailure
 */
export const startModelProcess = async (program: string, options: StartOptions, limits: ProcessLimits): Promise<ModelProcess> => {
  const child = spawn(program, limits);
  let running: Running | undefined;
  let failure: ModelFailure | undefined;
  let isEnding = false;
  const lastLine = lastPrinted(child);

  const end = (reason?: ModelFailure): void => {
    failure ??= reason;
    isEnding = true;
    child.kill("SIGKILL");
  };
  const overMemory = `the model took more than the ${Math.round(limits.memoryBytes / MB)} MB of memory that it may have`;
  const unwatch = watchMemory(child, {
    mostBytes: limits.memoryBytes,
    everyMs: MEMORY_LOOK_MS,
    onMore: () => end(new ModelFailure("bounds", overMemory)),
  });
  const settle = (): Running | undefined => {
    const settled = running;
    running = undefined;
    return settled;
  };
  const ended = new Promise<void>((resolve) => {
    const onEnd = (how: string): void => {
      unwatch();
      const last = lastLine();
      settle()?.reject(failure ?? new ModelFailure("ended", `the model's process ended (${how})${last === "" ? "" : `: ${last}`}`));
      resolve();
    };
    child.once("exit", (code, signal) => onEnd(signal ?? `code ${code}`));
    child.once("error", (error) => onEnd(error.message));
  });
  child.on("message", (message: FromChild) => {
    if (message.type === "progress") return running?.report.progress(message.share);
    if (message.type === "text") return running?.report.text(message.piece);
    if (message.type === "failed") return settle()?.reject(new ModelFailure(message.isInput ? "input" : "engine", message.message));
    settle()?.resolve(message.type === "done" ? message.result : {});
  });

  /** A process that ends closes its channel a little earlier than its exit is seen. */
  const isAlive = (): boolean => !isEnding && child.connected && child.exitCode === null && child.signalCode === null;

  const exchange = async (message: ToChild, report: Report, forMs: number, signal?: AbortSignal): Promise<EngineResult> => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => end(new ModelFailure("bounds", `the model took longer than ${seconds(forMs)} s`)), forMs);
    let abort: (() => void) | undefined;
    try {
      return await new Promise<EngineResult>((resolve, reject) => {
        if (!isAlive()) return reject(failure ?? new ModelFailure("ended", "the model's process ended"));
        running = { report, resolve, reject };
        abort = () => {
          settle();
          end();
          reject(signal?.reason as Error);
        };
        signal?.addEventListener("abort", abort, { once: true });
        child.send(message, (error) => {
          if (error) end(new ModelFailure("ended", "the model's process ended"));
        });
      });
    } finally {
      clearTimeout(timer);
      if (abort) signal?.removeEventListener("abort", abort);
    }
  };

  const silent: Report = { progress: () => undefined, text: () => undefined };
  try {
    await exchange({ type: "load", options }, silent, limits.loadMs);
  } catch (error) {
    end();
    throw error;
  }
  return {
    pid: child.pid!,
    run: (request, report, signal) => exchange({ type: "run", request }, report, limits.runMs, signal),
    isAlive,
    end: () => end(),
    ended,
  };
};
