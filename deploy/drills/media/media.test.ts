import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assetFolder, assetsFolder, FFMPEG_ASSET } from "@nodeloom/platform";
import sharp from "sharp";
import { fetchAssets } from "../../../services/inference/src/fetch/fetch-assets";
import {
  beep,
  clip,
  colourAt,
  flashesOf,
  levelBetween,
  loudnessOf,
  onsetsOf,
  pictureAt,
  samplesOf,
  tone,
  withFfmpeg,
} from "../../../test-support/clips";
import { contentsOf } from "../../../test-support/reader";
import { startTransform, type RunningTransform } from "../../../services/transform/test/support/transform";
import { AUDIO_FORMS, VIDEO_FORMS } from "./forms";

/**
 * Video and audio operations with the ffmpeg of a new installation: all common formats, a minute of sync, loudness, captions, malicious
 * files, and a film for inspection in .nodeloom/drills/media.
 */

const OUT = join(__dirname, "..", "..", "..", ".nodeloom", "drills", "media");
const FETCH_MS = 15 * 60_000;
/** For hanging tests only: a film takes four operations, and the machine can be busy. */
jest.setTimeout(10 * 60_000);

let service: RunningTransform;
beforeAll(async () => {
  if (!process.env.FFMPEG_PATH) {
    const root = assetsFolder(process.env);
    const fetched = await fetchAssets({ root, assets: { ffmpeg: FFMPEG_ASSET } });
    expect(fetched?.failures).toEqual({});
    process.env.FFMPEG_PATH = join(assetFolder(root, "ffmpeg", FFMPEG_ASSET), "ffmpeg");
  }
  mkdirSync(OUT, { recursive: true });
  service = await startTransform({ FFMPEG_PATH: process.env.FFMPEG_PATH });
}, FETCH_MS);
afterAll(() => service.stop());

const makeFile = async (...run: Parameters<RunningTransform["run"]>) => {
  const startedAt = Date.now();
  const output = await service.run(...run);
  const ms = Date.now() - startedAt;
  const bytes = await service.bytesOf(output);
  return { output, bytes, contents: await contentsOf(bytes), ms };
};
const isRed = ([red, green, blue]: number[]): boolean => red! > 180 && green! < 90 && blue! < 90;

describe.each(VIDEO_FORMS)("a video $name", ({ make, size = [320, 180], hasSound = false }) => {
  it("is joined, resized, cut, and shown in its picture", async () => {
    const bytes = make();
    const key = await service.upload(bytes);
    const joined = await makeFile("video-concat", {}, { videos: [clip({ seconds: 1, size: "320x180", colour: "blue", tone: 440 }), key] });
    expect(joined.contents.video).toMatchObject({ codec: "avc", width: 320, height: 180 });
    expect(Math.abs(joined.contents.seconds - 3)).toBeLessThan(0.1);
    expect(isRed(colourAt(joined.bytes, 2))).toBe(true);
    expect(levelBetween(samplesOf(joined.bytes), 1.3, 2.7) > 0.01).toBe(hasSound);
    const small = await makeFile("video-resize", { width: 160 }, { video: key });
    expect(Math.abs(small.contents.video!.height - (160 * size[1]) / size[0])).toBeLessThanOrEqual(2);
    const trimmed = await makeFile("video-trim", { start: 0.5, seconds: 1 }, { video: key });
    expect(Math.abs(trimmed.contents.seconds - 1)).toBeLessThan(0.07);
    const frame = await service.run("video-frame", { at: 1 }, { video: key });
    const { data } = await sharp(await service.bytesOf(frame))
      .resize(1, 1)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(isRed([...data])).toBe(true);
  });
});

describe.each(AUDIO_FORMS)("a sound in $name", ({ make }) => {
  it("is joined, mixed and converted", async () => {
    const key = await service.upload(make());
    const [joined, mixed, converted] = [
      await makeFile("audio-concat", { format: "wav" }, { audios: [key, key] }),
      await makeFile("audio-mix", { format: "wav" }, { audios: [key, tone(1_000, 1)] }),
      await makeFile("audio-convert", { format: "flac", channels: 1 }, { audio: key }),
    ];
    expect(Math.abs(joined.contents.seconds - 4)).toBeLessThan(0.15);
    expect(Math.abs(mixed.contents.seconds - 2)).toBeLessThan(0.1);
    expect(converted.contents.audio!.channels).toBe(1);
    expect(levelBetween(samplesOf(converted.bytes), 0.2, 1.7)).toBeGreaterThan(0.015);
  });
});

it("keeps sound and pictures in sync over a minute of clips, and copies their pictures", async () => {
  const places = Array.from({ length: 12 }, (_, index) => 0.4 + (index % 5) * 0.8);
  const clips = places.map((at) => beep(5, at, "640x360"));
  const videos = await Promise.all(clips.map((one) => service.upload(one)));
  const { bytes, contents, ms } = await makeFile("video-concat", {}, { videos });
  process.stdout.write(`a minute of twelve clips was joined in ${ms} ms\n`);
  expect(contents.video!.frames).toBe(1_500);
  expect(contents.seconds).toBeCloseTo(60, 1);
  /** Delay of each beep after its flash, in milliseconds. */
  const apartIn = (film: Buffer): number[] => {
    const [beeps, flashes] = [onsetsOf(samplesOf(film)), flashesOf(film, 25)];
    expect(beeps.length).toBe(flashes.length);
    return beeps.map((at, index) => Math.round((at - flashes[index]!) * 1_000));
  };
  const [apart, expected] = [apartIn(bytes), clips.map((one) => apartIn(one)[0]!)];
  process.stdout.write(`sound after pictures, in ms: ${apart.join(" ")}; in the clips by themselves: ${expected.join(" ")}\n`);
  expect(apart).toHaveLength(12);
  for (const [index, ms] of apart.entries()) expect(Math.abs(ms - expected[index]!)).toBeLessThanOrEqual(20);
});

it.each([
  ["quiet speech-like noise", ["-af", "volume=0.05,tremolo=f=4:d=0.7"], -16],
  ["a loud tone", ["-af", "volume=6"], -16],
  ["a tone that is to be loud", ["-af", "volume=0.5"], -12],
  ["a tone that is to be quiet", ["-af", "volume=2"], -30],
])("brings %s to its loudness", async (_name, filter, loudness) => {
  const { bytes } = await makeFile("audio-loudness", { loudness, format: "wav" }, { audio: tone(440, 8, "wav", filter) });
  const measured = loudnessOf(bytes);
  process.stdout.write(`${loudness} LUFS were asked for, ${measured} are measured\n`);
  expect(Math.abs(measured - loudness)).toBeLessThanOrEqual(1);
});

/** Deterministic numbers for a seed. */
const randoms = (seed: number): (() => number) => {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
};

it("survives two hundred files with random damage", async () => {
  const bases: [string, Record<string, unknown>, string, Buffer][] = [
    ["video-resize", { width: 64 }, "video", clip({ seconds: 0.4, tone: 440 })],
    [
      "video-frame",
      {},
      "video",
      clip({ seconds: 0.4, video: ["-c:v", "libvpx"], audio: ["-c:a", "libopus"], tone: 440, extension: "webm" }),
    ],
    ["audio-convert", { format: "wav" }, "audio", tone(440, 0.4, "mp3")],
    ["audio-trim", { seconds: 0.1 }, "audio", tone(440, 0.4, "flac")],
    [
      "image-resize",
      { width: 20 },
      "image",
      await sharp({ create: { width: 60, height: 60, channels: 3, background: "#888" } })
        .jpeg()
        .toBuffer(),
    ],
  ];
  const outcomes = { madeCount: 0, failed: 0 };
  for (let round = 0; round < 200; round += 1) {
    const [operation, settings, port, base] = bases[round % bases.length]!;
    const random = randoms(round + 1);
    const bytes = Buffer.from(base);
    for (let change = 0; change < 1 + random() * 30; change += 1)
      bytes[12 + Math.floor(random() * (bytes.length - 12))] = Math.floor(random() * 256);
    const cut = random() < 0.3 ? bytes.subarray(0, Math.floor(bytes.length * random()) + 1) : bytes;
    try {
      await service.run(operation, settings, { [port]: Buffer.from(cut) });
      outcomes.madeCount += 1;
    } catch (error) {
      expect(error).toMatchObject({ kind: "failed" });
      outcomes.failed += 1;
    }
  }
  process.stdout.write(`of two hundred damaged files ${outcomes.madeCount} could be worked on, ${outcomes.failed} failed their call\n`);
  expect(await service.leftovers()).toEqual([]);
  expect((await service.run("audio-convert", { format: "wav" }, { audio: tone(440, 0.2) })).object).toBeDefined();
});

it("creates a film for inspection", async () => {
  const images = await Promise.all(
    [
      "mandelbrot=s=1600x900",
      "gradients=s=1200x1200:c0=orange:c1=navy:seed=3",
      "testsrc2=s=1920x1080",
      "cellauto=s=1280x720:rule=110",
      "sierpinski=s=1280x720:seed=5",
      "rgbtestsrc=s=1280x720",
    ].map((source) => service.upload(withFfmpeg(["-f", "lavfi", "-i", source, "-frames:v", "1"], "out.png"))),
  );
  const speech = withFfmpeg(["-f", "lavfi", "-i", "sine=frequency=220:duration=12,tremolo=f=3:d=0.9"], "out.wav");
  const music = tone(660, 4, "mp3", ["-af", "volume=0.3"]);
  const show = await makeFile("video-slideshow", { timing: "audio", transition: "fade", fadeSeconds: 0.8 }, { images, audio: speech });
  const words = Array.from({ length: 24 }, (_, index) => ({
    text: `word${index}${index % 6 === 5 ? "." : ""}`,
    start: index / 2,
    end: index / 2 + 0.4,
  }));
  const captioned = await makeFile("video-captions", { words }, { video: show.output.object!.key });
  const scored = await makeFile(
    "video-mux",
    { original: "duck", loop: true, fadeSeconds: 2 },
    { video: captioned.output.object!.key, audio: music },
  );
  const film = await makeFile(
    "video-concat",
    { transition: "fade", fadeSeconds: 0.5 },
    { videos: [scored.output.object!.key, clip({ seconds: 2, size: "1280x720", colour: "black", tone: 330 })] },
  );
  process.stdout.write(`slideshow ${show.ms} ms, captions ${captioned.ms} ms, music ${scored.ms} ms, joined ${film.ms} ms\n`);
  expect(film.contents.video).toMatchObject({ codec: "avc", width: 1_280, height: 720 });
  expect(Math.abs(film.contents.seconds - 13.5)).toBeLessThan(0.1);
  expect(Math.abs(film.contents.video!.seconds - film.contents.audio!.seconds)).toBeLessThan(0.05);
  writeFileSync(join(OUT, "film.mp4"), film.bytes);
  const pictures = await Promise.all(
    [0.5, 1.9, 3, 4.1, 5.5, 7.2, 8.6, 10.4, 11.9, 13].map(async (at) => sharp(pictureAt(film.bytes, at)).resize(480, 270).png().toBuffer()),
  );
  const sheet = sharp({ create: { width: 5 * 480, height: 2 * 270, channels: 3, background: "#000" } });
  const layers = pictures.map((input, index) => ({ input, left: (index % 5) * 480, top: Math.floor(index / 5) * 270 }));
  writeFileSync(join(OUT, "film.png"), await sheet.composite(layers).png().toBuffer());
  const hashes = new Set(pictures.map((bytes) => createHash("sha256").update(bytes).digest("hex")));
  expect(hashes.size).toBe(pictures.length);
});
