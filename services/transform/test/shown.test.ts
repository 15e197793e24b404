import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { clip, colourAt, levelBetween, onsetsOf, pictureAt, samplesOf, tone, withFfmpeg } from "../../../test-support/clips";
import { describeWithFfmpeg } from "../../../test-support/ffmpeg";
import { contentsOf } from "../../../test-support/reader";
import { startTransform, type RunningTransform } from "./support/transform";

/** Compares results with the picture that players show for the inputs. */

const X264 = ["-c:v", "libx264", "-preset", "ultrafast"];
const PQ = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc";

describeWithFfmpeg("a video as displayed", () => {
  let service: RunningTransform;
  beforeAll(async () => {
    service = await startTransform();
  });
  afterAll(() => service.stop());

  const runAndRead = async (...run: Parameters<RunningTransform["run"]>) => {
    const output = await service.run(...run);
    return { output, bytes: await service.bytesOf(output) };
  };
  const framesOf = (video: Buffer, frames: number): Buffer =>
    withFfmpeg(["-i", "in", "-frames:v", String(frames), "-c", "copy"], "out.mp4", { in: video });

  it("keeps its aspect ratio in every operation, if its pixels aren't square", async () => {
    const wide = (rotation: string[] = []): Buffer =>
      clip({ seconds: 0.4, size: "120x80", more: ["-vf", "setsar=3/2", ...rotation], tone: 440 });
    const video = await service.upload(wide());
    const sound = tone(440, 0.8);
    const results = await Promise.all([
      service.run("video-trim", { seconds: 0.2 }, { video }),
      service.run("video-speed", { speed: 2 }, { video }),
      service.run("video-frame", { at: 0 }, { video }),
      service.run("video-resize", { width: 90 }, { video }),
      service.run("video-captions", { text: "x" }, { video }),
      service.run("video-gif", { width: 90 }, { video }),
      service.run("video-mux", { length: "longest" }, { video, audio: sound }),
      service.run("video-concat", {}, { videos: [video, clip({ seconds: 0.4 })] }),
    ]);
    expect(results.map(({ width, height }) => Math.round((100 * width!) / height!))).toEqual(results.map(() => 225));
    expect(results[5]!.width).toBe(90);
    const poster = await service.client.renderPreview({ key: video, width: 90 }, { deadlineMs: 30_000 });
    expect(await sharp(Buffer.from(poster.data)).metadata()).toMatchObject({ width: 90, height: 40 });
  });

  it("keeps its brightness if it is HDR, on other screens", async () => {
    const grey = (colours: string): Buffer =>
      withFfmpeg(
        [
          ...["-f", "lavfi", "-i", "color=c=0x7d7d7d:s=160x90:r=25:d=0.4", "-vf", "format=yuv420p10le"],
          ...[...X264, "-x264-params", colours, "-pix_fmt", "yuv420p10le"],
        ],
        "out.mp4",
      );
    for (const colours of [PQ, "transfer=smpte2084"]) {
      const video = await service.upload(grey(colours));
      const trimmed = await runAndRead("video-trim", { seconds: 0.2 }, { video });
      const { data } = await sharp((await runAndRead("video-frame", { at: 0.1 }, { video })).bytes)
        .raw()
        .toBuffer({ resolveWithObject: true });
      for (const level of [colourAt(trimmed.bytes, 0)[0]!, data[0]!]) expect(level).toBeGreaterThan(150);
    }
  });

  it("keeps the colours of its last scene as a GIF, whatever came before", async () => {
    const scenes = withFfmpeg(
      [
        ...[
          "-f",
          "lavfi",
          "-i",
          "testsrc2=s=160x90:r=10:d=3",
          "-f",
          "lavfi",
          "-i",
          "nullsrc=s=160x90:r=10:d=2,geq=r=255-Y*2:g=X*1.5:b=255-X",
        ],
        ...["-filter_complex", "[0:v]format=yuv420p[a];[1:v]format=yuv420p[b];[a][b]concat=n=2", ...X264, "-qp", "10"],
      ],
      "out.mp4",
    );
    const { bytes } = await runAndRead("video-gif", { seconds: 5, width: 160, fps: 10 }, { video: scenes });
    const { data } = await sharp(bytes, { page: 49 }).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const expectedPixels = Array.from({ length: 160 * 90 }, (_, pixel) => [pixel % 160, Math.floor(pixel / 160)]).flatMap(([x, y]) => [
      ...[255 - 2 * y!, 1.5 * x!, 255 - x!],
    ]);
    const error = expectedPixels.reduce((sum, level, index) => sum + Math.abs(level - data[index]!), 0) / expectedPixels.length;
    expect(error).toBeLessThan(8);
  });

  it("stays in sync with a sound that starts later, at another speed", async () => {
    const video = withFfmpeg(
      ["-i", "in", "-itsoffset", "1", "-i", "sound", "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac"],
      "out.mp4",
      {
        in: clip({ seconds: 3 }),
        sound: tone(440, 2),
      },
    );
    const { bytes } = await runAndRead("video-speed", { speed: 2 }, { video });
    expect(Math.abs(onsetsOf(samplesOf(bytes))[0]! - 0.5)).toBeLessThan(0.06);
    expect(levelBetween(samplesOf(bytes), 0, 0.4)).toBeLessThan(0.001);
  });

  it("has a picture for every time below its length, and the last one while its sound continues", async () => {
    const video = await service.upload(
      withFfmpeg(["-i", "in", "-i", "sound", "-c:v", "copy", "-c:a", "aac"], "out.mp4", { in: clip({ seconds: 1 }), sound: tone(440, 6) }),
    );
    for (const at of [0, 0.97, 0.99, 1.5, 5.9]) expect((await service.run("video-frame", { at }, { video })).width).toBe(160);
    expect((await service.run("video-frame", { last: true }, { video })).width).toBe(160);
  });

  it("has a thumbnail, and a picture, if it is one frame long", async () => {
    const video = await service.upload(framesOf(clip({ seconds: 1 }), 1));
    expect((await service.run("video-frame", { at: 0.02 }, { video })).width).toBe(160);
    expect((await service.client.renderPreview({ key: video, width: 96 }, { deadlineMs: 30_000 })).contentType).toBe("image/webp");
  });

  it("gets no captions if nothing is said", async () => {
    const video = clip({ seconds: 1, tone: 440 });
    for (const settings of [{ words: [] }, { words: [{ text: "", segments: [] }] }, { words: [], mode: "track" }]) {
      const { bytes } = await runAndRead("video-captions", settings, { video });
      const contents = await contentsOf(bytes);
      expect([contents.video!.frames, Math.round(contents.audio!.seconds), bytes.includes("tx3g")]).toEqual([25, 1, false]);
    }
    const late = { words: [{ text: "late", start: 5, end: 6 }] };
    expect((await service.failure("video-captions", late, { video })).message).toContain("after the end of the video");
  });

  it("has captions in every script with a font, and characters without one are named", async () => {
    const video = await service.upload(clip({ seconds: 0.4, size: "320x180", colour: "black" }));
    const texts = ["你好世界", "再见朋友", "안녕하세", "감사합니", "さようなら", "สวัสดี", "مرحبا", "שלום"];
    const pictures = new Set<string>();
    for (const text of texts) {
      const { bytes } = await runAndRead("video-captions", { text, size: 0.2 }, { video });
      pictures.add(pictureAt(bytes, 0.2).toString("base64"));
    }
    expect(pictures.size).toBe(texts.length);
    expect((await service.failure("video-captions", { text: "ok 𠀀" }, { video })).message).toContain("text: no font has 𠀀 (U+20000)");
  });

  it.each([
    ["a.mkv", "video"],
    ["a.avi", "video"],
    ["stream.m2t", "video"],
    ["a.aiff", "audio"],
    ["a.amr", "audio"],
    ["sound.webm", "audio"],
    ["sound.mp4", "audio"],
    ["sound.mkv", "audio"],
  ])("is read from %s", async (name, family) => {
    const bytes = readFileSync(join(__dirname, "..", "..", "media", "test", "kinds", name));
    const { output } =
      family === "video"
        ? await runAndRead("video-resize", { width: 24 }, { video: bytes })
        : await runAndRead("audio-convert", {}, { audio: bytes });
    expect(output.durationSeconds).toBeGreaterThan(0.05);
  });

  it("is rejected if the end of its file is missing, wherever its index is", async () => {
    const whole = clip({ seconds: 2, size: "320x180", more: ["-vf", "noise=alls=80:allf=t"] });
    const forms = [
      whole,
      withFfmpeg(["-i", "in", "-c", "copy", "-movflags", "+faststart"], "out.mp4", { in: whole }),
      withFfmpeg(["-i", "in", "-c", "copy", "-movflags", "+frag_keyframe+empty_moov"], "out.mp4", { in: whole }),
      clip({ seconds: 1, more: ["-vf", "noise=alls=80:allf=t"], video: ["-c:v", "libvpx", "-deadline", "realtime"], extension: "webm" }),
    ];
    for (const bytes of forms) {
      const cut = bytes.subarray(0, Math.round(bytes.length * 0.6));
      expect((await service.failure("video-resize", { width: 80 }, { video: cut })).message).toContain("video: the file is incomplete");
      expect(
        (await service.run("video-frame", { at: 0 }, { video: Buffer.concat([bytes, Buffer.from("garbage behind it")]) })).width,
      ).toBeGreaterThan(0);
    }
  });

  it("computes the duration of a sound with a variable rate, if its file doesn't state it", async () => {
    const noise = ["-f", "lavfi", "-i", "anoisesrc=d=2:a=0.5:r=48000:seed=1"];
    const joined = ["-filter_complex", "[0:a]adelay=6000", "-c:a", "libmp3lame", "-q:a", "2", "-write_xing", "0", "-id3v2_version", "0"];
    const audio = withFfmpeg([...noise, ...joined], "out.mp3");
    expect((await service.failure("audio-trim", { start: 9 }, { audio })).message).toMatch(/ends at 8(\.0\d+)? s/);
  });
});
