import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEDIA_OPERATIONS } from "@nodeloom/kernel";
import { brokenInto, cuesOfEntries, cuesOfText, cuesOfWords, readWords } from "@nodeloom/kernel/captions";
import { assetsFolder, writeProgress } from "@nodeloom/platform";
import { findFfmpeg } from "../src/ffmpeg/program";
import { readDescription } from "../src/work/ffmpeg/probe";
import { OPERATIONS } from "../src/work/operations";
import { asAss, asSrt } from "../src/work/videos/cues";
import { mainFont, runsOf } from "../src/work/fonts/fonts";

it("supports every operation in the kernel's table, and no other except previews and measurements", () => {
  expect(Object.keys(OPERATIONS).sort()).toEqual([...MEDIA_OPERATIONS.map(({ name }) => name), "measure", "preview"].sort());
});

describe("the ffmpeg in use", () => {
  let folder: string;
  const path = process.env.PATH;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nodeloom-ffmpeg-"));
    process.env.PATH = folder;
  });
  afterEach(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true, force: true });
  });
  const program = (at: string): string => {
    writeFileSync(at, "#!/bin/sh\necho 'ffmpeg version 9.9-test Copyright'\n");
    chmodSync(at, 0o755);
    return at;
  };

  it("is the one in the environment, or else the one on PATH", async () => {
    const own = program(join(folder, "own"));
    expect(await findFfmpeg({ FFMPEG_PATH: own, NODELOOM_CACHE_DIR: folder }).ready()).toEqual({ path: own, version: "9.9-test" });
    const ffmpegFile = program(join(folder, "ffmpeg"));
    expect((await findFfmpeg({ NODELOOM_CACHE_DIR: folder }).ready()).path).toBe(ffmpegFile);
  });

  it("is unavailable, with the next step, until it exists; and downloading meanwhile", async () => {
    const ffmpeg = findFfmpeg({ NODELOOM_CACHE_DIR: folder });
    expect(await ffmpeg.status()).toMatchObject({ state: "away", reason: expect.stringContaining("FFMPEG_PATH") as string });
    await expect(ffmpeg.ready()).rejects.toMatchObject({ kind: "unavailable", metadata: { retryAfter: 60 } });
    const root = assetsFolder({ NODELOOM_CACHE_DIR: folder });
    mkdirSync(root, { recursive: true });
    const progress = {
      pid: process.pid,
      state: "fetching" as const,
      fetchedBytes: 34_000_000,
      totalBytes: 68_000_000,
      startedAt: Date.now() - 5_000,
      failures: {},
    };
    await writeProgress(root, progress);
    const { state, reason, retryAfterSeconds } = await ffmpeg.status();
    // Until ffmpeg is downloaded, the platform reports this.
    if (state === "downloading") {
      expect([reason, retryAfterSeconds > 0]).toEqual(["ffmpeg is being downloaded (34 MB left): wait for it", true]);
      // Models that are downloaded after ffmpeg don't count.
      await writeProgress(root, { ...progress, totalBytes: 540_000_000, left: { ffmpeg: 12_000_000, chat: 500_000_000 } });
      expect(await ffmpeg.status()).toMatchObject({ reason: expect.stringContaining("(12 MB left)") as string, retryAfterSeconds: 5 });
    } else expect(reason).toContain("Linux");
    program(join(folder, "ffmpeg"));
    expect((await ffmpeg.status()).state).toBe("ready");
  });
});

describe("ffmpeg's output about a file", () => {
  it("is parsed for any stream", () => {
    const log = `Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:in-0':
  Duration: 00:01:02.50, start: 0.000000, bitrate: 3000 kb/s
  Stream #0:0[0x1](und): Video: hevc (Main 10) (hvc1 / 0x31637668), yuv420p10le(tv, bt2020nc/bt2020/arib-std-b67), 1920x1080 [SAR 1:1 DAR 16:9], 2800 kb/s, 29.97 fps, 29.97 tbr, 600 tbn (default)
    Side data:
      displaymatrix: rotation of -90.00 degrees
  Stream #0:1[0x2](und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, 5.1, fltp, 128 kb/s (default)
`;
    const hdr = { transfer: "arib-std-b67", primaries: "bt2020", matrix: "bt2020nc" };
    expect(readDescription(log)).toEqual({
      seconds: 62.5,
      video: {
        codec: "hevc",
        pixelFormat: "yuv420p10le",
        width: 1_080,
        height: 1_920,
        fps: 29.97,
        isUpright: false,
        hasSquarePixels: true,
        hdr,
      },
      audio: { codec: "aac", sampleRate: 44_100, channels: "5.1" },
    });
  });

  it("doesn't treat a cover picture as a video", () => {
    const log = `  Duration: 00:00:03.00, start: 0.0
  Stream #0:0: Audio: mp3, 44100 Hz, stereo, fltp, 128 kb/s
  Stream #0:1: Video: mjpeg (Baseline), yuvj420p(pc), 600x600 [SAR 1:1 DAR 1:1], 90k tbr, 90k tbn (attached pic)`;
    expect(readDescription(log).video).toBeUndefined();
  });
});

describe("captions", () => {
  const words = (...spokenWords: [string, number, number][]) => spokenWords.map(([text, start, end]) => ({ text, start, end }));

  it("end at sentences, pauses and full lines", () => {
    const cues = cuesOfWords(words(["One", 0, 0.3], ["two.", 0.3, 0.6], ["Three", 0.7, 1], ["four", 3, 3.3]), 20);
    expect(cues.map(({ text, start }) => [text, start])).toEqual([
      ["One two.", 0],
      ["Three", 0.7],
      ["four", 3],
    ]);
    expect(cues[0]!.end).toBeLessThanOrEqual(0.7);
    const long = cuesOfWords(words(["aaaa", 0, 1], ["bbbb", 1, 2], ["cccc", 2, 3], ["dddd", 3, 4], ["eeee", 4, 5]), 9);
    expect(long.map(({ text }) => text)).toEqual(["aaaa bbbb\ncccc dddd", "eeee"]);
  });

  it("are read in the form of transcription models", () => {
    expect(readWords([{ word: " Hi ", start: 0, end: 1 }])).toEqual([{ text: "Hi", start: 0, end: 1 }]);
    expect(readWords({ text: "Hi", words: [{ text: "Hi", start: 0, end: 1 }] })).toHaveLength(1);
    expect(readWords([{ segments: [{ text: "Hi there", start: 0, end: 1 }] }])).toEqual([{ text: "Hi there", start: 0, end: 1 }]);
    for (const wrong of [[{ text: "Hi" }], [{ text: "Hi", start: 2, end: 1 }], ["Hi"], [{ start: 0, end: 1 }]])
      expect(readWords(wrong)).toBe(0);
    expect(readWords([{ text: "Hi", start: 0, end: 1 }, { text: "Hi" }])).toBe(1);
  });

  it("appear at exactly the times of their entries without grouping, however close they are", () => {
    const cues = cuesOfEntries(words(["Later", 3, 4], ["One", 0, 0.5], ["two\nlines that are long", 0.5, 1.2], ["", 5, 6]), 12);
    expect(cues).toEqual([
      { text: "One", start: 0, end: 0.5 },
      { text: "two\nlines that\nare long", start: 0.5, end: 1.2 },
      { text: "Later", start: 3, end: 4 },
    ]);
  });

  it("are spread over a video by the length of their text", () => {
    const cues = cuesOfText("Short. A sentence that is longer.", 10, 40);
    expect(cues.map(({ text }) => text)).toEqual(["Short.", "A sentence that is longer."]);
    expect(cues[1]!.end).toBeCloseTo(10);
    expect(cues[0]!.end).toBeLessThan(3);
  });

  it("keep every word, whatever its length", () => {
    expect(brokenInto("a bb ccccccccccc d", 4)).toEqual(["a bb", "ccccccccccc", "d"]);
  });

  it("break between the words of scripts without spaces, and join these words without one", () => {
    expect(brokenInto("你好世界，再见朋友。", 10)).toEqual(["你好世界，", "再见朋友。"]);
    expect(brokenInto("สวัสดีชาวโลก", 8)).toEqual(["สวัสดีชาว", "โลก"]);
    expect(brokenInto("well-known words", 8)).toEqual(["well-known", "words"]);
    const cues = cuesOfWords(words(["你好", 0, 1], ["世界", 1, 2], ["ok", 2, 3]), 20);
    expect(cues.map(({ text }) => text)).toEqual(["你好世界 ok"]);
    expect(cuesOfText("你好。再见。", 4, 20).map(({ text }) => text)).toEqual(["你好。", "再见。"]);
  });

  it("are empty if nothing is said", () => {
    for (const silence of [[], {}, { words: [] }, [{ text: "", words: [], segments: [] }]]) expect(readWords(silence)).toEqual([]);
  });

  it("are written so that no text is a command", () => {
    const runs = (text: string) => runsOf(text, "bold", "text");
    const style = { width: 100, height: 50, font: mainFont("bold"), runsOf: runs, size: 0.2, colour: "#ff8000", position: "top" };
    const ass = asAss([{ start: 1.5, end: 3_661.25, text: "{\\pos(1,1)}a\nb\u0000" }], style);
    expect(ass).toContain("&H000080FF");
    expect(ass).toContain("Dialogue: 0,0:00:01.50,1:01:01.25,Default,,0,0,0,,\\{\\\u2060pos(1,1)}a\\Nb ");
    expect(asSrt([{ start: 0, end: 61.5, text: "a" }])).toBe("1\n00:00:00,000 --> 00:01:01,500\na\n");
  });
});

describe("the fonts of a text", () => {
  const families = (text: string): string[] => runsOf(text, "bold", "text").map(({ text: part, font }) => `${part}|${font.family}`);

  it.each([
    ["Chinese", "Hi 你好。", ["Hi |Noto Sans", "你好。|Noto Sans S Chinese Bold"]],
    ["Japanese", "直す", ["直す|Noto Sans Japanese Bold"]],
    ["Korean", "안녕 세계", ["안녕 세계|Noto Sans Korean Bold"]],
    ["Thai", "สวัสดี", ["สวัสดี|Noto Sans Thai"]],
    ["Arabic", "مرحبا", ["مرحبا|Noto Sans Arabic"]],
    ["Hebrew", "שלום", ["שלום|Noto Sans Hebrew"]],
    ["notes and faces", "la ♪ 👍🏽", ["la |Noto Sans", "♪ |Noto Sans S Chinese Bold", "👍🏽|Noto Emoji"]],
  ])("show %s, each part in a font with all of its characters", (_name, text, expectedFamilies) => {
    expect(families(text)).toEqual(expectedFamilies);
  });

  it("are rejected with the characters that none of them has, each once, with its number", () => {
    expect(() => runsOf("a 𠀀 ক 𠀀", "regular", "text")).toThrow(
      "text: no font has 𠀀 (U+20000), ক (U+0995); leave out or replace these signs",
    );
  });
});
