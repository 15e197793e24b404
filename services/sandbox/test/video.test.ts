import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFile, MP4BoxBuffer, type Movie } from "mp4box";
import { createEncoder, type Frame } from "../src/render/h264/encoder";
import type { VideoFormat } from "../src/render/h264/parameters";
import { muxMp4 } from "../src/render/mp4";
import { createRandom, seedOf } from "../src/render/random";
import { renderVideo } from "../src/render/video";
import { FETCH_MS, fetchFfmpeg, ffmpegPath } from "../../../test-support/ffmpeg";

beforeAll(fetchFfmpeg, FETCH_MS);

interface ParsedMp4 {
  movie: Movie;
  samples: { data: Uint8Array; isKey: boolean }[];
}

const parseMp4 = (bytes: Buffer): ParsedMp4 => {
  const file = createFile();
  const samples: ParsedMp4["samples"] = [];
  let movie: Movie | undefined;
  file.onReady = (info) => {
    movie = info;
    file.setExtractionOptions(info.tracks[0]!.id, null, { nbSamples: 10_000 });
    file.start();
  };
  file.onSamples = (_id, _user, batch) => {
    for (const sample of batch) samples.push({ data: sample.data ?? new Uint8Array(), isKey: sample.is_sync });
  };
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0));
  file.flush();
  if (!movie) throw new Error("the file has no movie box");
  return { movie, samples };
};

const withFile = <T>(bytes: Buffer, use: (path: string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-video-"));
  try {
    const path = join(folder, "video.mp4");
    writeFileSync(path, bytes);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const LENGTHS: readonly [seconds: number, framesPerSecond: number][] = [
  [1, 8],
  [5, 8],
  [10, 8],
  [10, 16],
];

describe.each(LENGTHS)("a video of %d s at %d frames per second", (seconds, framesPerSecond) => {
  let bytes: Buffer;
  beforeAll(async () => (bytes = await renderVideo(seedOf("a cat", seconds), seconds, framesPerSecond)));

  it("is an H.264 track of exactly that length, with its index first", () => {
    const { movie, samples } = parseMp4(bytes);
    const [track] = movie.tracks;
    expect(movie.tracks).toHaveLength(1);
    expect(movie.duration / movie.timescale).toBe(seconds);
    expect(track).toMatchObject({ codec: "avc1.42c01e", nb_samples: seconds * framesPerSecond, video: { width: 256, height: 144 } });
    expect(samples.map(({ isKey }) => isKey)).toEqual(samples.map((_, index) => index === 0));
    expect(movie.isProgressive).toBe(true);
  });

  it("has one slice per frame, whose length prefix matches the sample", () => {
    for (const { data, isKey } of parseMp4(bytes).samples) {
      expect(new DataView(data.buffer, data.byteOffset).getUint32(0)).toBe(data.length - 4);
      expect(data[4]! & 0x1f).toBe(isKey ? 5 : 1);
    }
  });

  it("moves: every frame differs from the one before", () => {
    const { samples } = parseMp4(bytes);
    expect(Math.min(...samples.map(({ data }) => data.length))).toBeGreaterThan(384);
  });

  it("is decoded by ffmpeg without a message", () => {
    withFile(bytes, (path) => {
      const decode = (level: string): string =>
        spawnSync(ffmpegPath(), ["-hide_banner", "-v", level, "-i", path, "-f", "null", "-"], { encoding: "utf8" }).stderr;
      expect(decode("error")).toBe("");
      const info = decode("info");
      expect(info).toMatch(/Video: h264 \(Constrained Baseline\).* yuv420p/);
      expect(info.match(/frame= *(\d+)/g)?.at(-1)).toMatch(new RegExp(` ${seconds * framesPerSecond}$|=${seconds * framesPerSecond}$`));
    });
  });
});

describe("the encoder", () => {
  const format: VideoFormat = { width: 64, height: 48, framesPerSecond: 8 };
  const noise = (seed: string): Frame => {
    const random = createRandom(seed);
    const plane = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => 16 + random.below(220));
    return { y: plane(64 * 48), u: plane(32 * 24), v: plane(32 * 24) };
  };
  const change = (frame: Frame, pixel: number): Frame => {
    const y = frame.y.slice();
    y[pixel] = 300 - y[pixel]!;
    return { ...frame, y };
  };

  it("codes an unchanged frame in a handful of bytes and a changed pixel as one macroblock", () => {
    const encode = createEncoder(format);
    const first = noise(seedOf("noise"));
    expect(encode(first)).toMatchObject({ isKey: true });
    expect(encode(first).data.length).toBeLessThan(16);
    const changed = encode(change(first, 64 * 20 + 30));
    expect(changed).toMatchObject({ isKey: false });
    expect(changed.data.length).toBeGreaterThan(384);
    expect(changed.data.length).toBeLessThan(384 + 20);
  });

  it("is lossless, over more frames than the frame number can count", async () => {
    const encode = createEncoder(format);
    const frames = [noise(seedOf("noise"))];
    for (let index = 1; index < 300; index++) frames.push(change(frames.at(-1)!, (index * 131) % (64 * 48)));
    const file = await muxMp4(format, frames.map(encode));
    const raw = withFile(
      file,
      (path) =>
        spawnSync(ffmpegPath(), ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], { maxBuffer: 2 ** 26 }).stdout,
    );
    const expected = Buffer.concat(frames.flatMap(({ y, u, v }) => [y, u, v]));
    expect(raw.equals(expected)).toBe(true);
  });

  it("survives samples that look like start codes", async () => {
    const encode = createEncoder(format);
    const flat = (value: number): Frame => ({
      y: new Uint8Array(64 * 48).fill(value),
      u: new Uint8Array(32 * 24).fill(value),
      v: new Uint8Array(32 * 24).fill(value),
    });
    const dark: Frame = flat(0);
    const nearlyDark: Frame = { ...flat(0), y: Uint8Array.from({ length: 64 * 48 }, (_, index) => (index % 3 === 2 ? 1 : 0)) };
    const file = await muxMp4(format, [encode(dark), encode(nearlyDark), encode(flat(3))]);
    const raw = withFile(file, (path) => spawnSync(ffmpegPath(), ["-v", "error", "-i", path, "-f", "rawvideo", "-"]).stdout);
    expect(raw.equals(Buffer.concat([dark, nearlyDark, flat(3)].flatMap(({ y, u, v }) => [y, u, v])))).toBe(true);
  });
});
