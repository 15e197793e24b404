import { PNG } from "pngjs";
import { renderModel } from "../src/render/model";
import { renderMusic } from "../src/render/music";
import { renderPicture } from "../src/render/picture";
import { createRandom, seedOf } from "../src/render/random";
import { MAX_SYLLABLES, renderSpeech, speechSeconds, syllablesOf } from "../src/render/speech";
import { renderVideo } from "../src/render/video";
import { decodeWav } from "./support/wav";

const RENDERERS: readonly [name: string, render: (seed: string) => Buffer | Promise<Buffer>][] = [
  ["a picture", (seed) => renderPicture(seed, 512)],
  ["a small picture", (seed) => renderPicture(seed, 256)],
  ["a video", (seed) => renderVideo(seed, 10, 8)],
  ["a pro video", (seed) => renderVideo(seed, 10, 16)],
  ["music", (seed) => renderMusic(seed, 10)],
  ["a 3D model", (seed) => renderModel(seed, undefined)],
  ["a 3D model of a picture", (seed) => renderModel(seed, renderPicture(seed, 256))],
  ["speech", (seed) => renderSpeech(seed, MAX_SYLLABLES)],
];

afterEach(() => jest.restoreAllMocks());

describe.each(RENDERERS)("%s", (_name, render) => {
  it("has the same bytes for the same seed at any time, and others for another", async () => {
    const first = await render(seedOf("a cat"));
    jest.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
    expect((await render(seedOf("a cat"))).equals(first)).toBe(true);
    expect((await render(seedOf("a dog"))).equals(first)).toBe(false);
  });
});

describe("random numbers", () => {
  it("stay in range and differ between seeds", () => {
    const random = createRandom(seedOf(1));
    const numbers = Array.from({ length: 1000 }, () => random.next());
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    expect(new Set(numbers).size).toBeGreaterThan(990);
    expect(createRandom(seedOf(2)).next()).not.toBe(createRandom(seedOf(1)).next());
  });
});

describe("pictures", () => {
  it("decode to an opaque picture of the requested size with many colours", () => {
    const png = PNG.sync.read(renderPicture(seedOf("a cat"), 512));
    expect([png.width, png.height]).toEqual([512, 512]);
    const colours = new Set<number>();
    for (let at = 0; at < png.data.length; at += 4) {
      colours.add(png.data.readUInt32BE(at) >>> 8);
      if (png.data[at + 3] !== 255) throw new Error("a pixel is not opaque");
    }
    expect(colours.size).toBeGreaterThan(500);
  });

  it("show the label SANDBOX, for any seed", () => {
    const corner = (seed: string): string => {
      const png = PNG.sync.read(renderPicture(seed, 512));
      const rows = [16, 24, 32, 40].map((row) => png.data.subarray((row * 512 + 16) * 4, (row * 512 + 180) * 4).toString("hex"));
      return rows.join();
    };
    expect(corner(seedOf("one"))).toBe(corner(seedOf("two")));
    expect(corner(seedOf("one"))).toContain("ffffffff");
  });
});

describe("sounds", () => {
  it.each([1, 6, 10])("of music last exactly %d s, as 16-bit mono PCM at 22.05 kHz", (seconds) => {
    const wav = decodeWav(renderMusic(seedOf("waltz"), seconds));
    expect(wav).toMatchObject({ format: 1, channels: 1, sampleRate: 22_050, bitsPerSample: 16, seconds });
  });

  it("of music are loud enough and never clipped", () => {
    for (const name of ["waltz", "march", "lullaby", "tango"]) {
      const peak = decodeWav(renderMusic(seedOf(name), 6)).samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
      expect(peak).toBeGreaterThan(6_000);
      expect(peak).toBeLessThan(32_767);
    }
  });

  it("of speech last longer for longer texts, up to a limit", () => {
    const seconds = ["Hi", "Good morning to you all", "x".repeat(200_000)].map(
      (text) => decodeWav(renderSpeech(seedOf(text), syllablesOf(text.length))).seconds,
    );
    expect(seconds[0]).toBeLessThan(seconds[1]!);
    expect(seconds[1]).toBeLessThan(seconds[2]!);
    expect(seconds[2]).toBeCloseTo(speechSeconds(MAX_SYLLABLES), 2);
  });
});
