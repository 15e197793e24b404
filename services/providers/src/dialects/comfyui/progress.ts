import { isRecord } from "@nodeloom/kernel";
import type { JobProgress } from "../../dialect";
import { pointer, readJson } from "../../pointer";

/**
 * Reads the messages of a ComfyUI server's WebSocket. Follows `server.py`: `send_json`, `encode_bytes` and `send_image`.
 */

/** Binary messages begin with their type and the format of their image, four bytes each. */
const HEADER_BYTES = 8;
const PREVIEW_IMAGE = 1;
const FORMATS = new Map([
  [1, "image/jpeg"],
  [2, "image/png"],
] as const);
/** Servers send previews of at most 512 pixels. Larger images aren't shown. */
const MAX_IMAGE_BYTES = 256 * 1_024;

const imageIn = (message: Buffer): JobProgress | undefined => {
  if (message.length <= HEADER_BYTES || message.length > HEADER_BYTES + MAX_IMAGE_BYTES) return undefined;
  const contentType = FORMATS.get(message.readUInt32BE(4) as 1);
  if (message.readUInt32BE(0) !== PREVIEW_IMAGE || contentType === undefined) return undefined;
  return { image: { contentType, bytes: message.subarray(HEADER_BYTES) } };
};

const percentIn = (message: unknown, promptId: string): JobProgress | undefined => {
  const data = pointer(message, "/data");
  if (pointer(message, "/type") !== "progress" || !isRecord(data)) return undefined;
  const { value, max, prompt_id: id } = data;
  if (typeof value !== "number" || typeof max !== "number" || !(max > 0)) return undefined;
  // Old servers send no id. They send to the client of the running prompt only.
  if (id !== undefined && id !== promptId) return undefined;
  return { percent: Math.round(Math.min(1, Math.max(0, value / max)) * 100) };
};

/** Progress of a prompt in a message, or undefined for any other message. */
export const progressIn = (message: string | Buffer, promptId: string): JobProgress | undefined =>
  typeof message === "string" ? percentIn(readJson(message)?.value, promptId) : imageIn(message);
