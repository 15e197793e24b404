import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import sharp from "sharp";
import {
  cropBox,
  cropSize,
  layerBox,
  MOST_PIXELS_WIDE,
  mediaOperation,
  resizedImage,
  withDefaults,
  type Drawing,
  type ImageBox,
  type ImageSize,
} from "@nodeloom/kernel";
import type { Job } from "../src/work/job";
import { OPERATIONS } from "../src/work/operations";
import { similarity } from "../../../test-support/similarity";

/** A preview in the browser draws with the kernel's geometry. These tests compare it with the files that the operations write. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-geometry-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const OWN: ImageSize = { width: 301, height: 200 };
/** A picture of a gradient, a disc and a slanted edge. */
const pictureOf = ({ width, height }: ImageSize, colour = "#2244cc"): Promise<Buffer> => {
  const tint = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const inDisc = (x: number, y: number): boolean => Math.hypot(x - 0.3 * width, y - 0.4 * height) < 0.25 * height;
  const pixel = (x: number, y: number): number[] => {
    if (inDisc(x, y)) return [20, 120, 60];
    if (y / height > 1 - 0.8 * (x / width)) return [170, 50, 50 + (150 * x) / width];
    return tint.map((part) => 255 + (part - 255) * ((x + y) / (width + height)));
  };
  const pixels = Array.from({ length: width * height }, (_, at) => pixel(at % width, Math.floor(at / width))).flat();
  return sharp(Buffer.from(pixels), { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
};

const run = async (name: string, inputs: Record<string, unknown>, files: Record<string, Buffer>): Promise<Buffer> => {
  const settings = withDefaults(mediaOperation(name)!, inputs);
  const inputFiles = Object.entries(files).map(([port, bytes]) => {
    const path = join(folder, `${port}.png`);
    writeFileSync(path, bytes);
    return { port, path, contentType: "image/png" };
  });
  const job = { settings, files: inputFiles, folder, ffmpeg: "", warn: () => undefined } as unknown as Job;
  return sharp((await OPERATIONS[name]!(job)).path)
    .png()
    .toBuffer();
};
const sizeOf = async (bytes: Buffer): Promise<ImageSize> => {
  const { width, height } = await sharp(bytes).metadata();
  return { width, height };
};

/** Draws pictures as a page does: each one scaled into its box, cut at the edges of the image. */
const drawLayers = async (size: ImageSize, background: string, layers: readonly { picture: Buffer; box: ImageBox }[]): Promise<Buffer> => {
  const inputs = await Promise.all(
    layers.map(async ({ picture, box }) => {
      const cut = { left: Math.max(0, -box.left), top: Math.max(0, -box.top) };
      const [left, top] = [Math.max(0, box.left), Math.max(0, box.top)];
      const width = Math.min(box.width - cut.left, size.width - left);
      const height = Math.min(box.height - cut.top, size.height - top);
      const whole = await sharp(picture).resize({ width: box.width, height: box.height, fit: "fill", kernel: "linear" }).png().toBuffer();
      return {
        input: await sharp(whole)
          .extract({ ...cut, width, height })
          .png()
          .toBuffer(),
        left,
        top,
      };
    }),
  );
  return sharp({ create: { ...size, channels: 4, background } })
    .composite(inputs)
    .png()
    .toBuffer();
};
const drawnAs = ({ picture: box, ...size }: Drawing, picture: Buffer, background = "#000000"): Promise<Buffer> =>
  drawLayers(size, background, [{ picture, box }]);

const GEOMETRY = 0.98;
const side = fc.integer({ min: 1, max: 900 });

describe("the size that a preview shows", () => {
  it("is the size of the resized image, for every fit and size", async () => {
    const fit = fc.constantFrom("inside" as const, "cover" as const, "contain" as const, "fill" as const);
    const settings = fc
      .record({ width: fc.option(side, { nil: undefined }), height: fc.option(side, { nil: undefined }), fit, enlarge: fc.boolean() })
      .filter(({ width, height }) => width !== undefined || height !== undefined);
    await fc.assert(
      fc.asyncProperty(settings, side, side, async (sizeSettings, width, height) => {
        const picture = await sharp({ create: { width, height, channels: 3, background: "#345678" } })
          .png()
          .toBuffer();
        const expected = resizedImage(sizeSettings, { width, height });
        // Longer sides are rejected.
        const followed = sizeSettings.width === undefined ? (sizeSettings.height! * width) / height : (sizeSettings.width * height) / width;
        fc.pre(followed <= MOST_PIXELS_WIDE);
        expect(await sizeOf(await run("image-resize", sizeSettings, { image: picture }))).toEqual({
          width: expected.width,
          height: expected.height,
        });
      }),
      { numRuns: 120 },
    );
  });

  it("is the part that a crop keeps, for every aspect, size and position", async () => {
    const image = await pictureOf(OWN);
    const ratio = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })).map(([across, down]) => `${across}:${down}`);
    const part = fc.record({ width: fc.integer({ min: 1, max: OWN.width }), height: fc.integer({ min: 1, max: OWN.height }) });
    const at = fc.record({ x: fc.option(side, { nil: undefined }), y: fc.option(side, { nil: undefined }) });
    const position = fc.constantFrom("centre", "top-right", "left", "bottom");
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          ratio.map((aspect) => ({ aspect })),
          part,
        ),
        at,
        position,
        async (size, edges, anchor) => {
          const crop = { ...size, ...edges, position: anchor };
          const box = cropBox(crop, OWN);
          expect(cropSize(crop, OWN)).toEqual({ width: box.width, height: box.height });
          const expected = await sharp(image).extract(box).raw().toBuffer();
          expect(
            (
              await sharp(await run("image-crop", crop, { image }))
                .raw()
                .toBuffer()
            ).equals(expected),
          ).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a preview", () => {
  it.each([
    ["inside", { width: 200, height: 400 }],
    ["larger", { width: 640 }],
    ["cover", { width: 180, height: 170, fit: "cover" as const }],
    ["contain", { width: 260, height: 255, fit: "contain" as const, background: "#ffcc00" }],
    ["fill", { width: 120, height: 240, fit: "fill" as const }],
    ["not enlarged", { width: 500, height: 150, fit: "cover" as const, enlarge: false }],
  ])("looks like the resized image: %s", async (_name, settings) => {
    const image = await pictureOf(OWN);
    const drawing = resizedImage({ fit: "inside", enlarge: true, ...settings }, OWN);
    const background = "background" in settings ? settings.background : "#000000";
    expect(
      await similarity(await run("image-resize", settings, { image }), await drawnAs(drawing, image, background)),
    ).toBeGreaterThanOrEqual(GEOMETRY);
  });

  it.each([
    ["at an anchor", { position: "bottom-right", margin: 12, width: 90 }],
    ["at edges", { x: 40, y: 15, width: 150 }],
    ["partly outside", { x: -30, y: 120, width: 140 }],
    ["in its own size", { position: "top" }],
  ])("looks like the overlaid image: %s", async (_name, settings) => {
    const layer = { width: 120, height: 83 };
    const [image, overlay] = [await pictureOf(OWN), await pictureOf(layer, "#ee8800")];
    const box = layerBox(layer, OWN, { position: "centre", margin: 0, ...settings });
    const preview = await drawLayers(OWN, "#000000", [
      { picture: image, box: { left: 0, top: 0, ...OWN } },
      { picture: overlay, box },
    ]);
    expect(await similarity(await run("image-composite", settings, { image, overlay }), preview)).toBeGreaterThanOrEqual(GEOMETRY);
  });

  it("that is three pixels off isn't taken for the same", async () => {
    const image = await pictureOf(OWN);
    const settings = { width: 260, height: 255, fit: "contain" as const };
    const { picture, ...size } = resizedImage({ enlarge: true, ...settings }, OWN);
    const off = await drawnAs({ ...size, picture: { ...picture, top: picture.top + 3 } }, image);
    expect(await similarity(await run("image-resize", settings, { image }), off)).toBeLessThan(GEOMETRY);
  });
});
