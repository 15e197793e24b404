import type { ReadAt } from "./tiff";

/** Durations in seconds of audio files that the container library doesn't read. */

const CHUNK_BYTES = 8;
const FORM_BYTES = 12;
const MOST_CHUNKS = 1_000;
const RATE_AT = 8;
const EXPONENT_BIAS = 16_383;
const MANTISSA_BITS = 63;

/** AIFF and AIFC. The duration is the number of sample frames divided by the sample rate, an 80-bit float (Apple's AIFF 1.3). */
export const aiffSeconds = async (readAt: ReadAt): Promise<number | undefined> => {
  let at = FORM_BYTES;
  for (let count = 0; count < MOST_CHUNKS; count += 1) {
    const chunk = await readAt(at, CHUNK_BYTES + RATE_AT + 10);
    if (chunk.length < CHUNK_BYTES) return undefined;
    const length = chunk.readUInt32BE(4);
    if (chunk.toString("latin1", 0, 4) === "COMM") {
      const common = chunk.subarray(CHUNK_BYTES);
      const exponent = (common.readUInt16BE(RATE_AT) & 0x7fff) - EXPONENT_BIAS - MANTISSA_BITS;
      return common.readUInt32BE(2) / (Number(common.readBigUInt64BE(RATE_AT + 2)) * 2 ** exponent);
    }
    at += CHUNK_BYTES + length + (length % 2);
  }
  return undefined;
};

const NARROW = "#!AMR\n";
const WIDE = "#!AMR-WB\n";
const FRAME_SECONDS = 0.02;
const WINDOW_BYTES = 1_024 * 1_024;
/** Bytes per frame by frame type, including the type's byte (RFC 4867, 3GPP TS 26.101 and 26.201). 0 means reserved. */
const NARROW_FRAMES = [13, 14, 16, 18, 20, 21, 27, 32, 6, 0, 0, 0, 0, 0, 0, 1];
const WIDE_FRAMES = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 0, 0, 0, 0, 1, 1];

/** AMR. Frames last 20 ms each and must be counted, because their number isn't stored. */
export const amrSeconds = async (readAt: ReadAt): Promise<number | undefined> => {
  const magic = (await readAt(0, WIDE.length)).toString("latin1");
  const isWide = magic === WIDE;
  if (!isWide && !magic.startsWith(NARROW)) return undefined;
  const sizes = isWide ? WIDE_FRAMES : NARROW_FRAMES;
  let at = isWide ? WIDE.length : NARROW.length;
  let [frames, window, windowAt] = [0, await readAt(at, WINDOW_BYTES), at];
  for (;;) {
    if (at >= windowAt + window.length) [window, windowAt] = [await readAt(at, WINDOW_BYTES), at];
    const type = window[at - windowAt];
    const bytes = type === undefined ? 0 : sizes[(type >> 3) & 15]!;
    if (bytes === 0) return frames > 0 ? frames * FRAME_SECONDS : undefined;
    frames += 1;
    at += bytes;
  }
};
