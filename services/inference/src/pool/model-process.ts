import { fork, type ChildProcess } from "node:child_process";
import { lastPrinted, watchMemory, yieldToOthers } from "@nodeloom/platform";
import type { EngineRequest, EngineResult, Report } from "../engines/engine";
import type { FromChild, StartOptions, ToChild } from "../engines/protocol";

/** The parent's side of one model's process. A process that crashes, hangs or uses too much memory is ended. */

/** Thrown with the reason why a request has no result. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  constructor(
    /**
     * `input`: unsuitable inputs. `ended`: the process ended for any reason. `bounds`: the process was ended because it exceeded a limit.
     * `engine`: any other reason.
     */
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
  /** Runs a request; only one can run at a time. After most failures the process has ended. @throws ModelFailure, or the signal's reason */
  run(request: EngineRequest, report: Report, signal?: AbortSignal): Promise<EngineResult>;
  /** True if the process can accept a request. */
  isAlive(): boolean;
  /** Kills the process. */
  end(): void;
  exit: Promise<void>;
}

const MEMORY_LOOK_MS = 250;
/** Time in which a process that closed its channel exits by itself, so that its exit code is known. */
const EXIT_MS = 1_000;
const MB = 1_024 * 1_024;

/** Environment of the process, without the platform's secrets. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES } = process.env;
  return { PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, MALLOC_ARENA_MAX: "2" };
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
 * @param program `engines/child.mjs`, except in tests
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
  const exit = new Promise<void>((resolve) => {
    const onEnd = (how: string): void => {
      unwatch();
      const last = lastLine();
      settle()?.reject(failure ?? new ModelFailure("ended", `the model's process ended (${how})${last === "" ? "" : `: ${last}`}`));
      resolve();
    };
    child.once("exit", (code, signal) => onEnd(signal ?? `code ${code}`));
    child.once("error", (error) => onEnd(error.message));
  });
  // A process that closed its channel never answers, also if it received a request before.
  child.once("disconnect", () => {
    const timer = setTimeout(() => end(), EXIT_MS);
    void exit.then(() => clearTimeout(timer));
  });
  child.on("message", (message: FromChild) => {
    if (message.type === "progress") return running?.report.progress(message.share);
    if (message.type === "text") return running?.report.text(message.piece);
    if (message.type === "failed") return settle()?.reject(new ModelFailure(message.isInput ? "input" : "engine", message.message));
    settle()?.resolve(message.type === "done" ? message.result : {});
  });

  /** The channel closes before the exit is visible. */
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
    exit,
  };
};
