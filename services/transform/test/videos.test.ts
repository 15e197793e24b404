import sharp from "sharp";
import { beep, clip, colourAt, flashesOf, levelBetween, loudnessOf, onsetsOf, samplesOf, tone } from "../../../test-support/clips";
import { describeWithFfmpeg } from "../../../test-support/ffmpeg";
import { contentsOf } from "../../../test-support/reader";
import { startTransform, type RunningTransform } from "./support/transform";

/** Videos and audio. `npm run drill media` covers more formats. */

describeWithFfmpeg("operations on videos and sounds", () => {
  let service: RunningTransform;
  beforeAll(async () => {
    service = await startTransform();
  });
  afterAll(() => service.stop());

  const runAndProbe = async (...run: Parameters<RunningTransform["run"]>) => {
    const output = await service.run(...run);
    const bytes = await service.bytesOf(output);
    return { output, bytes, contents: await contentsOf(bytes) };
  };
  const picture = (background: string): Promise<Buffer> =>
    sharp({ create: { width: 320, height: 180, channels: 3, background } })
      .png()
      .toBuffer();
  const isNear = (colour: number[], expectedColour: number[]): boolean =>
    colour.every((one, index) => Math.abs(one - expectedColour[index]!) < 40);
  const [RED, GREEN, BLUE] = [
    [255, 0, 0],
    [0, 128, 0],
    [0, 0, 255],
  ];

  it("joins videos of one format in order, each sound under its own pictures", async () => {
    const videos = [beep(1, 0.2), beep(1.5, 0.4), beep(1, 0.6)];
    const { bytes, contents, output } = await runAndProbe("video-concat", {}, { videos });
    expect(contents.video).toMatchObject({ codec: "avc", width: 160, height: 90, frames: 88 });
    expect(contents.seconds).toBeCloseTo(3.5, 1);
    expect(output.durationSeconds).toBeCloseTo(3.5, 1);
    const [beeps, flashes] = [onsetsOf(samplesOf(bytes)), flashesOf(bytes, 25)];
    expect(beeps).toHaveLength(3);
    expect(flashes).toHaveLength(3);
    for (const [index, at] of [0.2, 1.4, 3.1].entries()) {
      expect(Math.abs(beeps[index]! - at)).toBeLessThan(0.04);
      expect(Math.abs(flashes[index]! - at)).toBeLessThan(0.05);
    }
  });

  it("joins videos of different formats in the frame of the first", async () => {
    const other = clip({
      seconds: 1,
      size: "90x160",
      fps: 30,
      colour: "green",
      video: ["-c:v", "libvpx-vp9", "-deadline", "realtime"],
      extension: "webm",
    });
    const videos = [clip({ seconds: 1, tone: 440 }), other, clip({ seconds: 1, colour: "blue", tone: 440 })];
    const { bytes, contents } = await runAndProbe("video-concat", {}, { videos });
    expect(contents.video).toMatchObject({ codec: "avc", width: 160, height: 90, frames: 75 });
    expect([0.5, 1.5, 2.5].map((at) => colourAt(bytes, at)).map((colour, index) => isNear(colour, [RED, GREEN, BLUE][index]!))).toEqual([
      true,
      true,
      true,
    ]);
    const samples = samplesOf(bytes);
    expect(levelBetween(samples, 0.2, 0.8)).toBeGreaterThan(0.05);
    expect(levelBetween(samples, 1.2, 1.8)).toBeLessThan(0.001);
    expect(levelBetween(samples, 2.2, 2.8)).toBeGreaterThan(0.05);
  });

  it("lets videos fade into each other, and rejects fades that are too long", async () => {
    const videos = [clip({ seconds: 2, tone: 440 }), clip({ seconds: 2, colour: "blue", tone: 880 })];
    const { bytes, contents } = await runAndProbe("video-concat", { transition: "fade", fadeSeconds: 1 }, { videos });
    expect(contents.video!.frames).toBe(75);
    expect([isNear(colourAt(bytes, 0.5), RED), isNear(colourAt(bytes, 1.5), [128, 0, 128]), isNear(colourAt(bytes, 2.5), BLUE)]).toEqual([
      true,
      true,
      true,
    ]);
    const failure = await service.failure("video-concat", { transition: "fade", fadeSeconds: 2 }, { videos });
    expect(failure.message).toContain("longer than half of the shortest video");
  });

  it("cuts a part out, takes pictures, changes speed and size", async () => {
    const video = await service.upload(clip({ seconds: 3, tone: 440 }));
    const trimmed = await runAndProbe("video-trim", { start: 1, end: 2.2 }, { video });
    expect(trimmed.contents.video).toMatchObject({ frames: 30 });
    expect(trimmed.contents.audio!.seconds).toBeCloseTo(1.2, 1);
    const [fast, slow] = [
      await runAndProbe("video-speed", { speed: 2 }, { video }),
      await runAndProbe("video-speed", { speed: 0.5 }, { video }),
    ];
    expect([fast.contents.seconds, slow.contents.seconds].map((seconds) => Math.round(seconds * 10) / 10)).toEqual([1.5, 6]);
    const small = await runAndProbe("video-resize", { width: 80, height: 80, fit: "cover", fps: 10 }, { video });
    expect(small.contents.video).toMatchObject({ width: 80, height: 80, frames: 30 });
    const frame = await service.run("video-frame", { at: 2 }, { video });
    expect(frame.object!.contentType).toBe("image/png");
    expect([frame.width, frame.height]).toEqual([160, 90]);
    expect((await service.run("video-frame", { last: true }, { video })).width).toBe(160);
    const gif = await service.run("video-gif", { seconds: 1, width: 80, fps: 10 }, { video });
    expect(await sharp(await service.bytesOf(gif)).metadata()).toMatchObject({ format: "gif", width: 80, pages: 10 });
    expect((await service.failure("video-frame", { at: 3.5 }, { video })).message).toContain("ends at 3 s");
    expect((await service.failure("video-trim", { start: 9 }, { video })).message).toContain("ends at 3 s");
  });

  it("keeps the picture of a video that is shorter than one frame of the result", async () => {
    const video = clip({ seconds: 0.04 });
    const gif = await service.run("video-gif", { width: 80, fps: 10 }, { video });
    expect(await sharp(await service.bytesOf(gif)).metadata()).toMatchObject({ format: "gif", width: 80 });
    const { contents } = await runAndProbe("video-resize", { width: 80, fps: 5 }, { video });
    expect(contents.video!.frames).toBe(1);
  });

  it("adds a sound to a video: as long as either, looped, faded, or lowered under the video's own", async () => {
    const silent = clip({ seconds: 2 });
    const longer = await runAndProbe("video-mux", { length: "audio" }, { video: silent, audio: tone(440, 3) });
    expect(longer.contents.video!.frames).toBe(75);
    expect(longer.contents.audio!.seconds).toBeCloseTo(3, 1);
    const longest = [tone(440, 3), tone(440, 0.5)].map((audio) =>
      runAndProbe("video-mux", { length: "longest" }, { video: silent, audio }),
    );
    expect((await Promise.all(longest)).map(({ contents }) => contents.video!.frames)).toEqual([75, 50]);
    const looped = await runAndProbe("video-mux", { loop: true, fadeSeconds: 1 }, { video: silent, audio: tone(440, 0.5) });
    const samples = samplesOf(looped.bytes);
    expect(levelBetween(samples, 0.6, 0.9)).toBeGreaterThan(0.05);
    expect(levelBetween(samples, 1.9, 2)).toBeLessThan(0.02);
    // The clip's own audio is audible only in the first second, and the added audio is lowered meanwhile.
    const talking = clip({ seconds: 3, tone: 300, more: ["-af", "volume='if(lt(t,1.5),4,0)':eval=frame"] });
    const ducked = samplesOf((await runAndProbe("video-mux", { original: "duck" }, { video: talking, audio: tone(6_000, 3) })).bytes);
    const alone = samplesOf((await runAndProbe("video-mux", { original: "drop" }, { video: talking, audio: tone(6_000, 3) })).bytes);
    expect(levelBetween(ducked, 2.5, 2.9)).toBeGreaterThan(0.8 * levelBetween(alone, 2.5, 2.9));
    expect(highLevel(ducked, 0.6, 1.2)).toBeLessThan(0.5 * highLevel(alone, 0.6, 1.2));
    expect((await service.failure("video-mux", { original: "duck" }, { video: silent, audio: tone(440, 1) })).message).toContain(
      "the video has no sound",
    );
  });

  it("shows images in the rhythm of seconds, of one sound, or of a sound each", async () => {
    const images = await Promise.all(["#ff0000", "#008000", "#0000ff"].map(picture));
    const size = { width: 160, height: 90 };
    const plain = await runAndProbe("video-slideshow", { ...size, seconds: 1, motion: "none" }, { images });
    expect(plain.contents.video).toMatchObject({ width: 160, height: 90, frames: 75 });
    expect([0.5, 1.5, 2.5].map((at, index) => isNear(colourAt(plain.bytes, at), [RED, GREEN, BLUE][index]!))).toEqual([true, true, true]);
    const byOne = await runAndProbe(
      "video-slideshow",
      { ...size, timing: "audio", transition: "fade", fadeSeconds: 0.4 },
      { images, audio: tone(440, 3) },
    );
    expect(byOne.contents.video!.frames).toBe(75);
    expect(byOne.contents.audio!.seconds).toBeCloseTo(3, 1);
    const audios = [tone(440, 0.6), tone(440, 1.4), tone(440, 1)];
    const each = await runAndProbe("video-slideshow", { ...size, timing: "audio" }, { images, audios });
    expect(each.contents.video!.frames).toBe(75);
    expect([0.3, 1.2, 2.6].map((at, index) => isNear(colourAt(each.bytes, at), [RED, GREEN, BLUE][index]!))).toEqual([true, true, true]);
    expect((await service.failure("video-slideshow", size, { images, audios: audios.slice(1) })).message).toContain(
      "there are 2, and 3 images",
    );
  });

  it("shows captions when their words are said, and no caption is a command", async () => {
    const video = clip({ seconds: 3, size: "320x180", colour: "black", tone: 440 });
    const words = [
      { text: "{\\an8}Loom\\N", start: 1, end: 1.4 },
      { text: "light", start: 1.4, end: 1.8 },
    ];
    const burnt = await runAndProbe("video-captions", { words, size: 0.15 }, { video });
    const brightAt = async (seconds: number, top: number): Promise<number> => {
      const { data } = await sharp(
        await service.bytesOf(await service.run("video-frame", { at: seconds }, { video: burnt.output.object!.key })),
      )
        .extract({ left: 0, top, width: 320, height: 60 })
        .greyscale()
        .raw()
        .toBuffer({ resolveWithObject: true });
      return data.filter((level) => level > 200).length;
    };
    expect([await brightAt(0.5, 120), await brightAt(1.5, 0), await brightAt(2.6, 120)]).toEqual([0, 0, 0]);
    expect(await brightAt(1.5, 120)).toBeGreaterThan(100);
    const track = await runAndProbe("video-captions", { text: "One. Two.", mode: "track" }, { video });
    expect(track.bytes.includes("tx3g")).toBe(true);
    expect((await service.failure("video-captions", { words: [{ text: "a" }] }, { video })).message).toContain(
      "words.0: must be {text, start, end}",
    );
    expect((await service.failure("video-captions", {}, { video })).message).toContain("words, text");
  });

  it("joins, mixes, cuts, levels and converts sounds", async () => {
    const [low, high] = [tone(300, 2), tone(2_000, 1, "mp3")];
    const lengths = await Promise.all([
      runAndProbe("audio-concat", { gapSeconds: 0.5, format: "wav" }, { audios: [low, high] }),
      runAndProbe("audio-concat", { crossfadeSeconds: 0.5, format: "flac" }, { audios: [low, high] }),
      runAndProbe("audio-mix", { format: "ogg" }, { audios: [low, high] }),
      runAndProbe("audio-mix", { length: "first", duck: true, loop: true, format: "m4a" }, { audios: [high, low] }),
      runAndProbe("audio-trim", { start: 0.5, seconds: 1, format: "wav" }, { audio: low }),
      runAndProbe("audio-convert", { format: "mp3", channels: 1, sampleRate: 16_000 }, { audio: low }),
      runAndProbe("audio-convert", { format: "ogg", channels: 1, sampleRate: 8_000 }, { audio: low }),
    ]);
    const seconds = lengths.map(({ contents }) => contents.seconds);
    for (const [index, expectedSeconds] of [3.5, 2.5, 2, 1, 1, 2, 2].entries())
      expect(Math.abs(seconds[index]! - expectedSeconds)).toBeLessThan(0.11);
    expect(lengths[5]!.contents.audio).toMatchObject({ codec: "mp3", sampleRate: 16_000, channels: 1 });
    const levelled = await runAndProbe(
      "audio-loudness",
      { loudness: -20, format: "wav" },
      { audio: tone(440, 5, "wav", ["-af", "volume=0.1"]) },
    );
    expect(Math.abs(loudnessOf(levelled.bytes) + 20)).toBeLessThan(1);
    expect((await service.failure("audio-loudness", {}, { audio: tone(440, 1, "wav", ["-af", "volume=0"]) })).message).toContain("silent");
  });

  it("returns the same bytes for the same operation", async () => {
    const images = await Promise.all(["#ff0000", "#0000ff"].map(picture));
    const settings = { width: 160, height: 90, seconds: 0.5, transition: "fade", fadeSeconds: 0.2 };
    const [one, other] = [
      await runAndProbe("video-slideshow", settings, { images }),
      await runAndProbe("video-slideshow", settings, { images }),
    ];
    expect(one.bytes.equals(other.bytes)).toBe(true);
    const audio = tone(440, 1);
    const sounds = [
      await runAndProbe("audio-convert", { format: "ogg" }, { audio }),
      await runAndProbe("audio-convert", { format: "ogg" }, { audio }),
    ];
    expect(sounds[0]!.bytes.equals(sounds[1]!.bytes)).toBe(true);
  });

  it("renders posters of videos and peaks of sounds", async () => {
    const [video, audio] = [await service.upload(clip({ seconds: 1 })), await service.upload(tone(440, 1))];
    const poster = await service.client.renderPreview({ key: video, width: 96 }, { deadlineMs: 30_000 });
    expect(poster.contentType).toBe("image/webp");
    expect((await sharp(Buffer.from(poster.data)).metadata()).width).toBe(96);
    const wave = await service.client.renderPreview({ key: audio, width: 96 }, { deadlineMs: 30_000 });
    const { peaks } = JSON.parse(Buffer.from(wave.data).toString()) as { peaks: number[] };
    expect(peaks).toHaveLength(400);
    expect(peaks.every((peak) => peak > 0.1 && peak <= 1)).toBe(true);
  });
});

/** Level of high frequencies: the difference between consecutive samples. */
const highLevel = (samples: Float32Array, from: number, to: number): number =>
  levelBetween(
    samples.map((sample, at) => sample - (samples[at - 1] ?? 0)),
    from,
    to,
  );
