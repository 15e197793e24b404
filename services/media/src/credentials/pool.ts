import { join } from "node:path";
import { Piscina } from "piscina";
import type { FileSummary } from "../blobs/blobs";
import type { Credential, Reading, ReadingTask, SigningTask } from "./claim";

/**
 * Bounds of a thread: tasks in its queue, time for a task including its wait, and its heap. The buffers of a file aren't part of the heap.
 */
export const THREAD = { waiting: 200, maxMs: 20_000, heapMb: 128, idleMs: 60_000 } as const;

/** The compiled thread. The path is valid from both src/ and dist/. */
const SCRIPT = join(__dirname, "..", "..", "dist", "credentials", "thread.mjs");

export class Busy extends Error {
  override readonly name = "Busy";
}

export interface Thread {
  /** Takes the bytes of the ingredients over: the caller must not read them afterwards. */
  sign(task: SigningTask): Promise<FileSummary>;
  read(task: ReadingTask): Promise<Reading>;
  selfMade(): Promise<Credential>;
  stop(): Promise<void>;
}

/** Buffers that can be handed over instead of copied. Small ones share a buffer with others. */
const ownBuffersOf = ({ claim }: SigningTask): ArrayBuffer[] =>
  claim.ingredients.flatMap(({ bytes }) => (bytes && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer as ArrayBuffer] : []));

/**
 * Creates a thread with its own heap and deadline, so that no file can block or crash the process. If it exceeds a limit, it is replaced.
 */
export const createThread = (limits: Partial<Record<keyof typeof THREAD, number>> = {}): Thread => {
  const { waiting, maxMs, heapMb, idleMs } = { ...THREAD, ...limits };
  const pool = new Piscina({
    filename: SCRIPT,
    ...{ minThreads: 0, maxThreads: 1, maxQueue: waiting, idleTimeout: idleMs },
    ...{ env: {}, execArgv: [], atomics: "disabled", resourceLimits: { maxOldGenerationSizeMb: heapMb } },
  });
  pool.on("error", () => undefined);

  /** @param handedOver buffers of the task that the caller no longer needs @throws Busy if the queue is full or the deadline passes */
  const run = async (name: "sign" | "read" | "selfMade", task?: unknown, handedOver: ArrayBuffer[] = []): Promise<unknown> => {
    const late = AbortSignal.timeout(maxMs);
    if (pool.queueSize >= waiting) throw new Busy("too many files are waiting");
    try {
      return await pool.run(task, { name, signal: late, transferList: handedOver });
    } catch (error) {
      throw late.aborted ? new Busy(`not done within ${maxMs} ms`) : error;
    }
  };

  return {
    sign: (task) => run("sign", task, ownBuffersOf(task)) as Promise<FileSummary>,
    read: (task) => run("read", task) as Promise<Reading>,
    selfMade: () => run("selfMade") as Promise<Credential>,
    stop: () => pool.destroy(),
  };
};
