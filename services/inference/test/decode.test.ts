import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeWithFfmpeg, ffmpegPath } from "../../../test-support/ffmpeg";
import { decodeSound, ffmpegIn } from "../src/engines/decode";
import { spoken } from "../src/engines/transcribe";
import { createFolder, removeFolder } from "./support/inference";

const folder = createFolder();
afterAll(() => removeFolder(folder));

const SAMPLE_RATE = 16_000;
const SECONDS = 2;
const TONE = ["-f", "lavfi", "-i", `sine=frequency=500:sample_rate=8000:duration=${SECONDS}`];
const PICTURES = ["-f", "lavfi", "-i", `testsrc=size=64x48:rate=5:duration=${SECONDS}`];

/** Writes a file with ffmpeg. */
const makeFile = (name: string, ...args: string[]): string => {
  const { status, stderr } = spawnSync(ffmpegPath(), ["-loglevel", "error", "-y", ...args, join(folder, name)]);
  if (status !== 0) throw new Error(String(stderr));
  return join(folder, name);
};
const decoded = (path: string, maxSeconds = 60): Promise<Float32Array> =>
  decodeSound(path, { ffmpeg: ffmpegPath(), sampleRate: SAMPLE_RATE, maxSeconds });
/** Frequency of a tone, from its number of zero crossings. */
const frequencyOf = (samples: Float32Array): number => {
  const crossings = samples.reduce((sum, sample, at) => sum + (at > 0 && samples[at - 1]! < 0 && sample >= 0 ? 1 : 0), 0);
  return crossings / (samples.length / SAMPLE_RATE);
};

describeWithFfmpeg("speech is read from every sound and video file that the platform accepts", () => {
  const withPictures = [...PICTURES, ...TONE, "-shortest"];
  it.each([
    ["wav", TONE],
    ["mp3", TONE],
    ["flac", TONE],
    ["aac", TONE],
    ["m4a", TONE],
    ["aiff", TONE],
    ["ogg", [...TONE, "-c:a", "libvorbis"]],
    ["opus.ogg", [...TONE, "-c:a", "libopus"]],
    ["amr", [...TONE, "-c:a", "libopencore_amrnb", "-ar", "8000"]],
    ["audio.webm", [...TONE, "-c:a", "libopus"]],
    ["mp4", withPictures],
    ["mov", withPictures],
    ["mkv", withPictures],
    ["avi", withPictures],
    ["ts", withPictures],
    ["webm", [...withPictures, "-c:v", "libvpx", "-c:a", "libopus"]],
  ])("%s", async (extension, args) => {
    const samples = await decoded(makeFile(`tone.${extension}`, ...args));
    expect(samples.length / SAMPLE_RATE).toBeCloseTo(SECONDS, 0);
    expect(Math.abs(frequencyOf(samples) - 500)).toBeLessThan(50);
  });

  it("WebM without a length, as browsers record it", async () => {
    const { stdout } = spawnSync(ffmpegPath(), ["-loglevel", "error", ...TONE, "-c:a", "libopus", "-f", "webm", "-live", "1", "pipe:1"]);
    const path = join(folder, "recorded");
    writeFileSync(path, stdout);
    expect((await decoded(path)).length / SAMPLE_RATE).toBeCloseTo(SECONDS, 0);
  });

  it("up to the maximum length", async () => {
    expect((await decoded(makeFile("long.wav", ...TONE), 1)).length).toBe(SAMPLE_RATE);
  });

  it("and rejected with the problem if there is none", async () => {
    await expect(decoded(makeFile("mute.mp4", ...PICTURES))).rejects.toMatchObject({
      name: "InputError",
      message: "the file has no sound",
    });
    await expect(decoded(makeFile("picture.png", ...PICTURES, "-frames:v", "1"))).rejects.toMatchObject({ name: "InputError" });
    // A playlist names other files.
    const playlist = join(folder, "list");
    writeFileSync(playlist, `#EXTM3U\n#EXTINF:2,\n${makeFile("secret.wav", ...TONE)}\n#EXT-X-ENDLIST\n`);
    await expect(decoded(playlist)).rejects.toMatchObject({ name: "InputError", message: expect.not.stringContaining(folder) as string });
  });

  it("with the ffmpeg of the model's downloads", async () => {
    await expect(ffmpegIn(folder)).rejects.toThrow("holds no ffmpeg");
    expect(await ffmpegIn(dirname(ffmpegPath()))).toBe(ffmpegPath());
  });
});

describe("a transcription omits sounds that aren't speech", () => {
  it.each([
    ["Good (phone ringing) morning.", "Good morning."],
    ["[BLANK_AUDIO]", ""],
    ["*music playing* Hello", "Hello"],
    ["♪ la la ♪ Hello", "Hello"],
    ["Hello (and more", "Hello more"],
  ])("%s", (text, spokenText) => {
    const words = text.split(" ").map((one, at) => ({ text: one, start: at, end: at + 1 }));
    expect(
      spoken(words)
        .map((one) => one.text)
        .join(" "),
    ).toBe(spokenText);
  });
});
