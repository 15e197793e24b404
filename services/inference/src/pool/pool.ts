import { createSlots, type Slots } from "@nodeloom/platform";
import type { EngineRequest, EngineResult, Gpu, Report } from "../engines/engine";
import type { LocalModel } from "../models";
import { startModelProcess, type ModelProcess } from "./model-process";

/** Loads models on first use, in one process each, up to a maximum number. Idle models are unloaded. */

export interface PoolOptions {
  /** Path of the program that model processes run. */
  program: string;
  /** Returns the folders of a model's downloads. @throws if a download is missing */
  foldersOf(model: LocalModel): Promise<Record<string, string>>;
  /** Maximum models that are loaded and computing at once. */
  concurrency: number;
  /** Maximum waiting requests per model. */
  queueLimit: number;
  threads: number;
  gpu?: Gpu | undefined;
  /** Idle time after which a model is unloaded. */
  idleMs: number;
}

export interface RunOptions {
  report: Report;
  signal?: AbortSignal;
  maxWaitMs: number;
}

export interface Pool {
  /**
   * @param begin prepares the request when its turn has come
   * @throws ModelFailure; NoSlot if the queue is full; errors of `begin`; or the signal's reason
   */
  run(name: string, model: LocalModel, begin: () => Promise<EngineRequest>, options: RunOptions): Promise<EngineResult>;
  /** Returns process ids of loaded models. */
  loaded(): Record<string, number>;
  waiting(): number;
  stop(): Promise<void>;
}

interface LoadedModel {
  process: ModelProcess;
  busy: boolean;
  usedAt: number;
  idle?: NodeJS.Timeout;
}

export const createPool = (options: PoolOptions): Pool => {
  const { program, foldersOf, concurrency, queueLimit, threads, gpu, idleMs } = options;
  const loaded = new Map<string, LoadedModel>();
  const lanes = new Map<string, Slots>();
  const places = createSlots({ concurrency, queueLimit: Number.MAX_SAFE_INTEGER });

  const unload = async (name: string): Promise<void> => {
    const entry = loaded.get(name);
    loaded.delete(name);
    clearTimeout(entry?.idle);
    entry?.process.end();
    await entry?.process.exit;
  };

  /** If all slots are in use, ends the model that has been idle longest. */
  const makeRoom = async (): Promise<void> => {
    if (loaded.size < concurrency) return;
    const [oldest] = [...loaded].filter(([, { busy }]) => !busy).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest) await unload(oldest[0]);
  };

  const load = async (name: string, model: LocalModel): Promise<LoadedModel> => {
    const entry = loaded.get(name);
    if (entry?.process.isAlive()) return entry;
    if (entry) await unload(name);
    await makeRoom();
    const cacheFolders = await foldersOf(model);
    const { engine, weightsFile } = model;
    const process = await startModelProcess(program, { engine, cacheFolders, weightsFile, threads, gpu }, model);
    const fresh: LoadedModel = { process, busy: true, usedAt: Date.now() };
    loaded.set(name, fresh);
    void process.exit.then(() => {
      if (loaded.get(name) === fresh) void unload(name);
    });
    return fresh;
  };

  const runLoaded = async (
    name: string,
    model: LocalModel,
    begin: () => Promise<EngineRequest>,
    { report, signal }: RunOptions,
  ): Promise<EngineResult> => {
    const request = await begin();
    const entry = await load(name, model);
    entry.busy = true;
    clearTimeout(entry.idle);
    try {
      return await entry.process.run(request, report, signal);
    } finally {
      entry.busy = false;
      entry.usedAt = Date.now();
      entry.idle = setTimeout(() => void unload(name), idleMs).unref();
    }
  };

  return {
    run: (name, model, begin, run) => {
      const lane = lanes.get(name) ?? createSlots({ concurrency: 1, queueLimit });
      lanes.set(name, lane);
      const wait = { signal: run.signal, maxWaitMs: run.maxWaitMs };
      return lane.use(() => places.use(() => runLoaded(name, model, begin, run), wait), wait);
    },
    loaded: () => Object.fromEntries([...loaded].map(([name, { process }]) => [name, process.pid])),
    waiting: () => [...lanes.values()].reduce((sum, lane) => sum + lane.load().waiting, 0),
    stop: async () => {
      await Promise.all([...loaded.keys()].map(unload));
    },
  };
};
