import type { FromChild, ToChild, WorkRequest } from "../children/protocol";
import { InputError } from "./job";
import { endFfmpeg } from "./ffmpeg/run";
import { OPERATIONS } from "./operations";

/** The program of child processes. It handles operations sequentially and exits with its parent. */

const tell = (message: FromChild): void => void process.send?.(message, undefined, undefined, () => undefined);

const work = async (request: WorkRequest): Promise<FromChild> => {
  const operation = Object.hasOwn(OPERATIONS, request.operation) ? OPERATIONS[request.operation] : undefined;
  if (!operation) return { type: "failed", message: "there is no such operation", isInput: true };
  try {
    const warnings: string[] = [];
    const result = await operation({ ...request, ffmpeg: request.ffmpeg ?? "", warn: (message) => void warnings.push(message) });
    return { type: "done", result: { ...result, ...(warnings.length > 0 ? { warnings } : {}) } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: "failed", message, isInput: error instanceof InputError };
  }
};

process.on("message", ({ request }: ToChild) => void work(request).then(tell));
process.once("disconnect", () => {
  endFfmpeg();
  process.exit(0);
});
tell({ type: "ready" });
