import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "@nodeloom/proto";
import sharp from "sharp";
import { startTransform, type RunningTransform } from "./support/transform";

let service: RunningTransform;
beforeAll(async () => {
  service = await startTransform();
});
afterAll(() => service.stop());

const picture = (width: number, height: number, background: string): sharp.Sharp =>
  sharp({ create: { width, height, channels: 3, background } });
const png = (width = 120, height = 80, background = "#ff0000"): Promise<Buffer> => picture(width, height, background).png().toBuffer();
const runAndMeasure = async (...run: Parameters<RunningTransform["run"]>) => {
  const output = await service.run(...run);
  const bytes = await service.bytesOf(output);
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number): number[] => [
    ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x) * info.channels + 3),
  ];
  return { output, bytes, at, metadata: await sharp(bytes).metadata() };
};

describe("operations on images", () => {
  it.each([
    ["one side", { width: 60 }, [60, 40]],
    ["both, whole", { width: 60, height: 60 }, [60, 40]],
    ["both, cut", { width: 60, height: 60, fit: "cover" }, [60, 60]],
    ["both, stretched", { width: 30, height: 90, fit: "fill" }, [30, 90]],
    ["not larger", { width: 500, enlarge: false }, [120, 80]],
    ["larger", { height: 160 }, [240, 160]],
  ])("resizes to %s", async (_name, settings, size) => {
    const { output, metadata } = await runAndMeasure("image-resize", settings, { image: await png() });
    expect([output.width, output.height]).toEqual(size);
    expect([metadata.width, metadata.height, metadata.format]).toEqual([...size, "png"]);
    expect(output.object).toMatchObject({ contentType: "image/png", ownerId: "user-1" });
  });

  it("sharpens the edges of a resized image on request", async () => {
    const halves = await picture(100, 100, "#606060")
      .composite([{ input: await png(50, 100, "#a0a0a0"), left: 0, top: 0 }])
      .png()
      .toBuffer();
    const [soft, sharp] = [
      await runAndMeasure("image-resize", { width: 200 }, { image: halves }),
      await runAndMeasure("image-resize", { width: 200, sharpen: 2 }, { image: halves }),
    ];
    const near = Array.from({ length: 20 }, (_, index) => 90 + index);
    const contrast = ({ at }: typeof soft): number => {
      const row = near.map((x) => at(x, 100)[0]!);
      return Math.max(...row) - Math.min(...row);
    };
    expect(contrast(sharp)).toBeGreaterThan(contrast(soft));
    expect(sharp.at(20, 100)).toEqual(soft.at(20, 100));
  });

  it("rotates a picture upright before it processes it", async () => {
    const turned = await picture(100, 50, "#00ff00").withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { output } = await runAndMeasure("image-resize", { width: 25 }, { image: turned });
    expect([output.width, output.height]).toEqual([25, 50]);
  });

  it("reads the formats of phones and scanners, and names unsupported ones", async () => {
    const kind = (name: string): Buffer => readFileSync(join(__dirname, "..", "..", "media", "test", "kinds", name));
    const heic = await runAndMeasure("image-resize", { width: 24 }, { image: kind("turned.heic") });
    expect([heic.metadata.format, heic.output.width, heic.output.height]).toEqual(["jpeg", 24, 32]);
    // The left half of the file is red, which is the bottom half after rotation.
    expect([heic.at(12, 28)[0]! > 200, heic.at(12, 4)[2]! > 200]).toEqual([true, true]);
    expect((await runAndMeasure("image-convert", { format: "png" }, { image: kind("a.tiff") })).metadata).toMatchObject({
      width: 48,
      height: 32,
    });
    const poster = await service.client.renderPreview(
      { key: await service.upload(kind("turned.heic")), width: 24 },
      { deadlineMs: 30_000 },
    );
    expect(await sharp(Buffer.from(poster.data)).metadata()).toMatchObject({ width: 24, height: 32 });
    expect((await service.failure("image-resize", { width: 24 }, { image: kind("a.bmp") })).message).toContain(
      "image: BMP can't be read; use PNG, JPEG",
    );
  });

  const animation = async (format: "gif" | "webp"): Promise<Buffer> => {
    const frames = await Promise.all(["#ff0000", "#00ff00", "#0000ff"].map((colour) => png(40, 40, colour)));
    const joined = sharp(frames, { join: { animated: true } });
    const times = { delay: [100, 200, 300], loop: 2 };
    return (format === "gif" ? joined.gif(times) : joined.webp({ ...times, lossless: true })).toBuffer();
  };

  it.each([
    ["larger", "image-resize", { width: 120 }, 120],
    ["smaller", "image-resize", { width: 15 }, 15],
    ["stretched", "image-resize", { width: 15, height: 30, fit: "fill" }, 15],
    ["cut out", "image-crop", { width: 15, height: 15 }, 15],
    ["written on", "image-text", { text: "x", size: 0.2, position: "centre" }, 40],
    ["laid under a logo", "image-composite", { position: "centre" }, 40],
  ])("keeps an animation's pictures, and its timing, if it is %s", async (_name, operation, settings, width) => {
    const files: Record<string, Buffer> = operation === "image-composite" ? { overlay: await png(4, 4, "#ffffff") } : {};
    for (const format of ["gif", "webp"] as const) {
      const { output, bytes, metadata } = await runAndMeasure(operation, settings, { image: await animation(format), ...files });
      expect([metadata.format, metadata.pages, metadata.delay, metadata.loop, output.width]).toEqual([
        format,
        3,
        [100, 200, 300],
        2,
        width,
      ]);
      for (const [page, expectedColour] of [
        [255, 0, 0],
        [0, 255, 0],
        [0, 0, 255],
      ].entries()) {
        const { data, info } = await sharp(bytes, { page }).removeAlpha().raw().toBuffer({ resolveWithObject: true });
        // Only overlays in the middle change its colour.
        const middle = [...data.subarray(3 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2))).subarray(0, 3)];
        expect(middle.every((level, index) => Math.abs(level - expectedColour[index]!) < 8)).toBe(!/text|composite/.test(operation));
        const edges = [0, info.height - 1].map((y) => [...data.subarray(y * info.width * 3, y * info.width * 3 + 3)]);
        for (const edge of edges)
          for (const [index, level] of edge.entries()) expect(Math.abs(level - expectedColour[index]!)).toBeLessThan(8);
      }
    }
  });

  it("reports a result that omits pictures of an animation", async () => {
    const gif = await service.upload(await animation("gif"));
    const image = await service.upload(await png());
    const warningsOf = async (operation: string, settings: object, files: Record<string, string[]>): Promise<string[]> => {
      const inputs = Object.entries(files).flatMap(([port, keys]) => keys.map((key) => ({ port, key })));
      const call = { callId: randomUUID(), userId: "user-1", operation, settingsJson: JSON.stringify(settings), inputs };
      return (await service.client.run(transform.RunRequest.fromPartial(call), { deadlineMs: 60_000 })).warnings;
    };
    const dropped = (port: string): string[] => [`${port}: only the first of 3 pictures of the animation is used`];
    expect(await warningsOf("image-convert", { format: "png" }, { image: [gif] })).toEqual(dropped("image"));
    expect(await warningsOf("image-composite", {}, { image: [image], overlay: [gif] })).toEqual(dropped("overlay"));
    expect(await warningsOf("image-grid", {}, { images: [image, gif] })).toEqual(dropped("images.1"));
    for (const format of ["gif", "webp"]) expect(await warningsOf("image-convert", { format }, { image: [gif] })).toEqual([]);
    expect(await warningsOf("image-convert", { format: "jpeg" }, { image: [image] })).toEqual([]);
  });

  it("rejects an animation whose pictures together would be too large", async () => {
    const failure = await service.failure("image-resize", { width: 8_000 }, { image: await animation("gif") });
    expect(failure.message).toContain("the 3 pictures of the result would have more than 100000000 pixels together");
  });

  it("crops to an aspect, at a position", async () => {
    const halves = await picture(200, 100, "#0000ff")
      .composite([{ input: await png(100, 100), left: 0, top: 0 }])
      .png()
      .toBuffer();
    const leftCrop = await runAndMeasure("image-crop", { aspect: "1:1", position: "left" }, { image: halves });
    const right = await runAndMeasure("image-crop", { aspect: "1:1", position: "right" }, { image: halves });
    expect([leftCrop.output.width, leftCrop.output.height, leftCrop.at(50, 50)]).toEqual([100, 100, [255, 0, 0]]);
    expect(right.at(50, 50)).toEqual([0, 0, 255]);
  });

  it("overlays an image on another", async () => {
    const files = { image: await png(100, 100), overlay: await png(20, 20, "#0000ff") };
    const { at } = await runAndMeasure("image-composite", { position: "bottom-right", margin: 5 }, files);
    expect([at(94, 94), at(76, 76), at(73, 73), at(97, 97)]).toEqual([
      [0, 0, 255],
      [0, 0, 255],
      [255, 0, 0],
      [255, 0, 0],
    ]);
    const faint = await runAndMeasure("image-composite", { opacity: 0.5 }, files);
    expect(faint.at(50, 50)[0]).toBeGreaterThan(100);
    expect(faint.at(50, 50)[2]).toBeGreaterThan(100);
  });

  it("arranges images in a grid in order", async () => {
    const images = await Promise.all(["#ff0000", "#00ff00", "#0000ff"].map((colour) => png(64, 64, colour)));
    const { output, at } = await runAndMeasure("image-grid", { cellWidth: 32, cellHeight: 32, gap: 0 }, { images });
    expect([output.width, output.height]).toEqual([64, 64]);
    expect([at(16, 16), at(48, 16), at(16, 48), at(48, 48)]).toEqual([
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 255],
    ]);
  });

  it.each(["png", "jpeg", "webp", "avif", "gif"])("converts to %s", async (format) => {
    const { output } = await runAndMeasure("image-convert", { format }, { image: await png() });
    expect(output.object!.contentType).toBe(`image/${format}`);
  });

  it("reads CMYK, and writes it as RGB", async () => {
    const cmyk = await picture(20, 20, "#ff0000").toColourspace("cmyk").jpeg().toBuffer();
    const { metadata } = await runAndMeasure("image-convert", { format: "png" }, { image: cmyk });
    expect(metadata.space).toBe("srgb");
  });

  it("writes a text unchanged, including markup, inside the picture", async () => {
    const { at, metadata } = await runAndMeasure(
      "image-text",
      { text: "<b>&", size: 0.4, background: "#0000ff", position: "centre" },
      { image: await png(200, 100) },
    );
    expect([metadata.width, metadata.height]).toEqual([200, 100]);
    const row = Array.from({ length: 200 }, (_, x) => at(x, 50));
    expect(row.some(([red, green, blue]) => red! > 200 && green! > 200 && blue! > 200)).toBe(true);
    expect(row.some(([red, , blue]) => red! < 50 && blue! > 200)).toBe(true);
    expect(at(2, 2)).toEqual([255, 0, 0]);
  });

  it("writes every script with a font, and names characters without one", async () => {
    const image = await png(400, 100);
    const texts = ["你好世界", "再见朋友", "สวัสดี", "مرحبا", "שלום"];
    const pictures = await Promise.all(
      texts.map(async (text) => (await runAndMeasure("image-text", { text, bold: true }, { image })).bytes),
    );
    expect(new Set(pictures.map((bytes) => bytes.toString("base64"))).size).toBe(texts.length);
    expect((await service.failure("image-text", { text: "ok 𠀀" }, { image })).message).toContain("text: no font has 𠀀 (U+20000)");
  });

  it.each([" ", "\n\t", "\u00a0", "\u200b\u200d", "\ufe0f", "\u3164", "\u2800"])(
    "fails at once, and names the text, if nothing of it is visible: %j",
    async (blank) => {
      const failure = await service.failure("image-text", { text: blank }, { image: await png() });
      expect(failure.message).toContain("text: has no visible character");
    },
  );

  it("returns the same bytes for the same operation", async () => {
    const image = await png();
    const [one, other] = [
      await runAndMeasure("image-resize", { width: 50 }, { image }),
      await runAndMeasure("image-resize", { width: 50 }, { image }),
    ];
    expect(one.output.object!.id).not.toBe(other.output.object!.id);
    expect(one.bytes.equals(other.bytes)).toBe(true);
  });

  it("stores a result once, however often its call is repeated", async () => {
    const image = await png();
    const call = { callId: "run-1-2-0" };
    const first = await service.run("image-resize", { width: 50 }, { image }, call);
    expect(first.object!.id).toBe("run-1-2-0-0");
    const again = await service.run("image-resize", { width: 70 }, { image }, call);
    expect(again.object!.url).toBe(first.object!.url);
  });

  it("rejects unsupported settings, and names the error and its path", async () => {
    const image = await png();
    const messages = await Promise.all([
      service.failure("image-turn", {}, { image }),
      service.failure("image-resize", {}, { image }),
      service.failure("image-resize", { width: 0 }, { image }),
      service.failure("image-resize", { width: 5 }, {}),
      service.failure("image-crop", { width: 500, height: 500 }, { image }),
      service.failure("image-resize", { width: 8_000 }, { image: await png(10, 100) }),
      service.failure("image-crop", { aspect: "0:9" }, { image }),
    ]);
    expect(messages.map(({ message }) => message)).toEqual([
      "operation: there is no such operation",
      expect.stringContaining("width, height"),
      expect.stringContaining("width"),
      expect.stringContaining("image"),
      expect.stringContaining("larger than the image of 120 × 80"),
      expect.stringContaining("longer than 8192 pixels"),
      expect.stringContaining("aspect"),
    ]);
    expect(messages.map(({ kind }) => kind)).toEqual(["invalid", "invalid", "invalid", "invalid", "failed", "failed", "invalid"]);
  });

  it("renders previews no larger than the picture", async () => {
    const [small, large] = await Promise.all([service.upload(await png(40, 30)), service.upload(await png(400, 300))]);
    const previews = await Promise.all(
      [small, large].map((key) => service.client.renderPreview({ key, width: 96 }, { deadlineMs: 30_000 })),
    );
    expect(previews.map(({ contentType }) => contentType)).toEqual(["image/webp", "image/webp"]);
    const sizes = await Promise.all(previews.map(async ({ data }) => (await sharp(Buffer.from(data)).metadata()).width));
    expect(sizes).toEqual([40, 96]);
  });

  it("leaves nothing in its folder", async () => {
    await service.run("image-resize", { width: 50 }, { image: await png() });
    await service.failure("image-resize", { width: 50 }, { image: Buffer.from("no picture") });
    expect(await service.leftovers()).toEqual([]);
  });

  it("reports the available operations", async () => {
    const { images } = await service.client.getStatus({});
    expect(images).toMatchObject({ state: 1, version: expect.stringMatching(/^\d+\.\d+/) as string });
  });
});
