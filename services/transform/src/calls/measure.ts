import { readFile } from "node:fs/promises";
import { transform } from "@nodeloom/proto";
import { BOUNDS } from "../bounds";
import { readFiles } from "./files";
import { asDomainError, type CallOptions } from "./run";

/** Measures a file for the expectations of a test. */

export const createMeasure =
  ({ media, pool, folders, ffmpeg }: CallOptions) =>
  /** @throws DomainError EXECUTION_FAILED for unsuitable files, SERVICE_UNAVAILABLE if the program is missing or the queue is full */
  async ({ key, userId, loudness, goldenKey }: transform.MeasureRequest, signal: AbortSignal): Promise<transform.MeasureResponse> => {
    try {
      const leave = await pool.enter({ key: userId, signal, maxWaitMs: BOUNDS.waitMs });
      try {
        return await folders.within(async (folder) => {
          const requestedFiles = [{ port: "file", key }, ...(goldenKey === "" ? [] : [{ port: "golden", key: goldenKey }])];
          const files = await readFiles(media, requestedFiles, folder, signal);
          const needsFfmpeg = loudness || files.some(({ contentType }) => !contentType.startsWith("image/"));
          const program = needsFfmpeg ? (await ffmpeg.ready()).path : null;
          const work = { operation: "measure", settings: { loudness }, files, folder, ffmpeg: program };
          const { path } = await pool.work(work, { timeMs: needsFfmpeg ? BOUNDS.measureMs : BOUNDS.imageMs, signal });
          return transform.MeasureResponse.fromPartial(JSON.parse(await readFile(path, "utf8")) as Partial<transform.MeasureResponse>);
        });
      } finally {
        leave();
      }
    } catch (error) {
      signal.throwIfAborted();
      throw asDomainError(error, "measure");
    }
  };
