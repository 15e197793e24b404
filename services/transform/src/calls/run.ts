import {
  DomainError,
  familyOfPort,
  invalidRequest,
  mediaOperation,
  missingGroups,
  operationIssues,
  withDefaults,
  type MediaOperation,
} from "@nodeloom/kernel";
import { NoSlot } from "@nodeloom/platform";
import { transform } from "@nodeloom/proto";
import { stat } from "node:fs/promises";
import { BOUNDS } from "../bounds";
import type { Pool } from "../children/pool";
import { WorkFailure, type WorkResult } from "../children/protocol";
import type { Program } from "../ffmpeg/program";
import { measured } from "../meters";
import { readFiles, storeFile, type Media } from "./files";
import type { Folders } from "./folders";

/** Runs one operation on files in media storage and stores its result there. */

export interface CallOptions {
  media: Media;
  pool: Pool;
  folders: Folders;
  ffmpeg: Program;
}

/** Retry delay in seconds if the queue is full. */
const FULL_SECONDS = 5;
const CALL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,197}$/;
const MB = 1_024 * 1_024;

/** Maps failures to errors. Unsuitable input fails the node; a killed process is retryable. */
export const asDomainError = (error: unknown, what: string): unknown => {
  if (error instanceof NoSlot)
    return new DomainError("unavailable", "SERVICE_UNAVAILABLE", `too many operations are waiting`, { retryAfter: FULL_SECONDS });
  if (!(error instanceof WorkFailure)) return error;
  const kind = error.kind === "fault" ? "internal" : "failed";
  return new DomainError(kind, kind === "internal" ? "INTERNAL" : "EXECUTION_FAILED", `${what}: ${error.message}`);
};

const settingsOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw invalidRequest([{ path: "settings_json", message: "must be a JSON object" }]);
};

/** Validates the operation and its settings. @throws DomainError INVALID_REQUEST */
const checked = (request: transform.RunRequest): { operation: MediaOperation; settings: Record<string, unknown> } => {
  const operation = mediaOperation(request.operation);
  if (!operation) throw invalidRequest([{ path: "operation", message: "there is no such operation" }]);
  if (!CALL_ID.test(request.callId)) throw invalidRequest([{ path: "call_id", message: "must be letters, digits, dots and dashes" }]);
  if (request.inputs.length > BOUNDS.files) throw invalidRequest([{ path: "inputs", message: `must be at most ${BOUNDS.files}` }]);
  const settings = settingsOf(request.settingsJson);
  // During validation, file keys are used in place of files.
  const ports = new Map<string, string[]>();
  for (const { port, key } of request.inputs) ports.set(port, [...(ports.get(port) ?? []), key]);
  const properties = operation.schema.properties as Record<string, { type?: unknown }>;
  const files = Object.fromEntries([...ports].map(([port, keys]) => [port, properties[port]?.type === "array" ? keys : keys[0]]));
  const inputs = { ...settings, ...files };
  const issues = [
    ...operationIssues(operation, inputs),
    ...missingGroups(operation, (name) => Object.hasOwn(inputs, name)).map((message) => ({ path: "settings_json", message })),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
  return { operation, settings: withDefaults(operation, settings) };
};

const outputOf = (
  object: transform.Output["object"],
  { width, height, durationSeconds, warnings = [] }: Partial<WorkResult>,
): transform.RunResponse => transform.RunResponse.fromPartial({ outputs: [{ object, width, height, durationSeconds }], warnings });

/** @throws WorkFailure if the result is missing or above media's size bound */
const checkSize = async (path: string): Promise<void> => {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > BOUNDS.outputBytes) throw new WorkFailure("bounds", `the result is larger than ${BOUNDS.outputBytes / MB} MB`);
  if (size === 0) throw new WorkFailure("input", "there is nothing in its files that it could make a result of");
};

/** Works again once in another process if the first was killed, because the files may not be the cause. */
const workAgain = async (pool: Pool, ...[request, limits]: Parameters<Pool["work"]>): Promise<WorkResult> => {
  try {
    return await pool.work(request, limits);
  } catch (error) {
    if (!(error instanceof WorkFailure) || error.kind !== "ended" || limits.signal?.aborted) throw error;
    return pool.work(request, limits);
  }
};

export const createRun = ({ media, pool, folders, ffmpeg }: CallOptions) => {
  /** Returns the result of an earlier call with this id. */
  const stored = async (id: string, { userId: ownerId, held: withHeld }: transform.RunRequest, signal: AbortSignal) =>
    (await media.getObjects({ ids: [id], ownerId, withHeld }, { signal })).objects[0];

  const make = async (request: transform.RunRequest, id: string, signal: AbortSignal): Promise<transform.RunResponse> => {
    const { operation, settings } = checked(request);
    const program = operation.program === "ffmpeg" ? (await ffmpeg.ready()).path : null;
    const leave = await pool.enter({ key: request.userId, signal, maxWaitMs: BOUNDS.waitMs });
    try {
      return await folders.within(async (folder) => {
        const files = await readFiles(media, request.inputs, folder, signal);
        const work = { operation: operation.name, settings, files, folder, ffmpeg: program };
        const timeMs = operation.program === "ffmpeg" ? BOUNDS.ffmpegMs : BOUNDS.imageMs;
        const result = await workAgain(pool, work, { timeMs, signal });
        await checkSize(result.path);
        const { userId: ownerId, making, held } = request;
        const target = { id, ownerId, accept: [familyOfPort(operation.output)!], making, held, path: result.path };
        return outputOf(await storeFile(media, target, signal), result);
      });
    } finally {
      leave();
    }
  };

  /**
   * Runs an operation. Idempotent by call id.
   * @throws DomainError INVALID_REQUEST for an invalid call, EXECUTION_FAILED for unsuitable files, SERVICE_UNAVAILABLE if the program is
   *   missing or the queue is full
   */
  return async (request: transform.RunRequest, signal: AbortSignal): Promise<transform.RunResponse> => {
    const id = `${request.callId}-0`;
    const earlier = await stored(id, request, signal);
    if (earlier) return outputOf(earlier, {});
    try {
      return await measured(mediaOperation(request.operation)?.name ?? "unknown", () => make(request, id, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw asDomainError(error, request.operation);
    }
  };
};
