import { readFile } from "node:fs/promises";
import { DomainError, mediaFamily } from "@nodeloom/kernel";
import type { transform } from "@nodeloom/proto";
import { BOUNDS } from "../bounds";
import { asDomainError, type CallOptions } from "./run";
import { readFiles } from "./files";

/** Thumbnails of files, and loudness curves of audio. */

const LEAST_WIDTH = 16;
const MOST_WIDTH = 2_048;
/** In the queue, all previews together count as one user. */
const KEY = "previews";

export const createPreview =
  ({ media, pool, folders, ffmpeg }: CallOptions) =>
  async ({ key, width }: transform.RenderPreviewRequest, signal: AbortSignal): Promise<transform.RenderPreviewResponse> => {
    try {
      const leave = await pool.enter({ key: KEY, signal, maxWaitMs: BOUNDS.previewMs });
      try {
        return await folders.within(async (folder) => {
          const files = await readFiles(media, [{ port: "file", key }], folder, signal);
          const family = mediaFamily(files[0]!.contentType);
          if (family === undefined || family === "model3d")
            throw new DomainError("failed", "EXECUTION_FAILED", "the file isn't an image, video or sound");
          const program = family === "image" ? null : (await ffmpeg.ready()).path;
          const settings = { family, width: Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)) };
          const { path } = await pool.work(
            { operation: "preview", settings, files, folder, ffmpeg: program },
            { timeMs: BOUNDS.previewMs, signal },
          );
          return { data: await readFile(path), contentType: family === "audio" ? "application/json" : "image/webp" };
        });
      } finally {
        leave();
      }
    } catch (error) {
      signal.throwIfAborted();
      throw asDomainError(error, "preview");
    }
  };
