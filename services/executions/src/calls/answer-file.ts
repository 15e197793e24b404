import { DomainError, MEDIA_FAMILIES, type MediaValue } from "@nodeloom/kernel";
import { uploadParts, type Slots } from "@nodeloom/platform";
import type { Media } from "../clients";
import type { HttpNodeCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { mediaId, storeInTurn } from "./call";

/** Answers of HTTP nodes that are pictures, videos and sounds, put into our storage. */

export type KeepAnswer = ReturnType<typeof createKeepAnswer>;

/** Whether media storage refuses the bytes, rather than fails. */
const isRefused = (error: unknown): boolean => error instanceof DomainError && (error.kind === "invalid" || error.kind === "failed");

export const createKeepAnswer =
  (media: Pick<Media, "upload">, downloads: Slots) =>
  /** @returns the file; undefined where the bytes are none that storage knows */
  async (call: HttpNodeCall, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<MediaValue | undefined> => {
    const placement = { id: mediaId(call, 0), ownerId: call.userId, accept: [...MEDIA_FAMILIES], making: undefined };
    const put = () => media.upload(uploadParts(placement, bytes), { deadlineMs: TIMING.keepFile, signal });
    try {
      return await storeInTurn(downloads, put, { userId: call.userId, signal, problem: "its answer could not be stored" });
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  };
