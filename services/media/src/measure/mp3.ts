import type { ReadAt } from "./tiff";

/**
 * Duration of an MP3 that doesn't store it. The frames are counted, because each can have a different bit rate (ISO/IEC 11172-3 and
 * 13818-3, layer III).
 */

const ID3_HEADER_BYTES = 10;
/** Number of bytes at the start of the first frame that can contain a tag with the frame count. */
const FRAME_HEAD_BYTES = 256;
const COUNTED_TAGS = ["Xing", "Info"];
const HEADER_BYTES = 4;
const WINDOW_BYTES = 1_024 * 1_024;
/** Maximum bytes between frames, such as a damaged frame. A longer gap ends the audio. */
const MOST_BETWEEN = 64 * 1_024;

/** Kilobits per second by header index: MPEG-1, then MPEG-2 and 2.5. */
const KILOBITS = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const RATES = [44_100, 48_000, 32_000] as const;
/** Divisors by version index: MPEG-2.5, reserved, MPEG-2, MPEG-1. */
const RATE_DIVISORS = [4, 0, 2, 1] as const;
const LAYER_III = 1;

interface Mp3Frame {
  bytes: number;
  seconds: number;
}

const frameOf = (header: number): Mp3Frame | undefined => {
  const [version, layer] = [(header >>> 19) & 3, (header >>> 17) & 3];
  const divisor = RATE_DIVISORS[version]!;
  const kilobits = KILOBITS[divisor === 1 ? 0 : 1][(header >>> 12) & 15];
  const rate = RATES[(header >>> 10) & 3];
  if (header >>> 21 !== 0x7ff || layer !== LAYER_III || divisor === 0 || !kilobits || rate === undefined) return undefined;
  const samples = divisor === 1 ? 1_152 : 576;
  const padding = (header >>> 9) & 1;
  return { bytes: Math.floor((samples * kilobits * 125 * divisor) / rate) + padding, seconds: (samples * divisor) / rate };
};

/** Offset of the first frame. It follows an ID3 tag, whose length uses seven bits per byte. */
const firstFrameAt = async (readAt: ReadAt): Promise<number> => {
  const head = await readAt(0, ID3_HEADER_BYTES);
  if (head.toString("latin1", 0, 3) !== "ID3") return 0;
  return ID3_HEADER_BYTES + head.subarray(6).reduce((length, byte) => length * 128 + byte, 0);
};

/** Duration of all frames in seconds. Undefined if the file stores its frame count or has no frames. */
export const countedSeconds = async (readAt: ReadAt): Promise<number | undefined> => {
  let at = await firstFrameAt(readAt);
  let window = await readAt(at, WINDOW_BYTES);
  let windowAt = at;
  if (COUNTED_TAGS.some((tag) => window.subarray(0, FRAME_HEAD_BYTES).includes(tag))) return undefined;
  let [seconds, end] = [0, at];
  while (at - end < MOST_BETWEEN) {
    if (at + HEADER_BYTES > windowAt + window.length) {
      [window, windowAt] = [await readAt(at, WINDOW_BYTES), at];
      if (window.length < HEADER_BYTES) break;
    }
    const frame = frameOf(window.readUInt32BE(at - windowAt));
    at += frame?.bytes ?? 1;
    if (!frame) continue;
    seconds += frame.seconds;
    end = at;
  }
  return seconds > 0 ? seconds : undefined;
};
