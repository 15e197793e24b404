import type * as Mediabunny from "mediabunny" with { "resolution-mode": "import" };
import type { EncodedFrame } from "./h264/encoder";
import { CODEC_NAME, decoderConfiguration, type VideoFormat } from "./h264/parameters";

// The package has a CommonJS bundle but declares types only for the ES module.
const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output } = require("mediabunny") as typeof Mediabunny;

/** Containers of boxes with time stamps (ISO/IEC 14496-12). */
const CONTAINERS = new Set(["moov", "trak", "mdia"]);
const TIMED = new Set(["mvhd", "tkhd", "mdhd"]);
const BOX_HEADER_BYTES = 8;
const FULL_BOX_HEADER_BYTES = 12;
const TIME_STAMP_BYTES = 4;

/** Clears creation and modification times. The muxer sets them from the clock, but equal prompts must result in equal bytes. */
const eraseTimes = (file: DataView, start: number, end: number): void => {
  for (let at = start; at < end;) {
    const size = file.getUint32(at);
    const type = String.fromCharCode(...[4, 5, 6, 7].map((offset) => file.getUint8(at + offset)));
    if (CONTAINERS.has(type)) eraseTimes(file, at + BOX_HEADER_BYTES, at + size);
    if (TIMED.has(type)) {
      const width = file.getUint8(at + BOX_HEADER_BYTES) === 1 ? 2 * TIME_STAMP_BYTES : TIME_STAMP_BYTES;
      for (let offset = 0; offset < 2 * width; offset++) file.setUint8(at + FULL_BOX_HEADER_BYTES + offset, 0);
    }
    at += Math.max(size, BOX_HEADER_BYTES);
  }
};

/** Writes frames of equal duration to an MP4 file. The index comes first, for progressive playback. */
export const muxMp4 = async (format: VideoFormat, frames: Iterable<EncodedFrame>): Promise<Buffer> => {
  const { width, height, framesPerSecond } = format;
  const target = new BufferTarget();
  const output = new Output({ target, format: new Mp4OutputFormat({ fastStart: "in-memory" }) });
  const track = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(track, { frameRate: framesPerSecond });
  await output.start();
  const metadata = {
    decoderConfig: { codec: CODEC_NAME, codedWidth: width, codedHeight: height, description: decoderConfiguration(format) },
  };
  let index = 0;
  for (const { data, isKey } of frames) {
    await track.add(new EncodedPacket(data, isKey ? "key" : "delta", index / framesPerSecond, 1 / framesPerSecond), metadata);
    index += 1;
  }
  await output.finalize();
  const file = target.buffer!;
  eraseTimes(new DataView(file), 0, file.byteLength);
  return Buffer.from(file);
};
