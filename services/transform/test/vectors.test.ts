import sharp from "sharp";
import { startTransform, type RunningTransform } from "./support/transform";

/** Vectors (SVG) in operations on images. */

let service: RunningTransform;
beforeAll(async () => {
  service = await startTransform();
});
afterAll(() => service.stop());

const drawing = (content: string, box = "0 0 10 5"): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}">${content}</svg>`);
const HALF = drawing('<rect width="5" height="5" fill="#ff0000"/>');

const runAndMeasure = async (...run: Parameters<RunningTransform["run"]>) => {
  const output = await service.run(...run);
  const { data, info } = await sharp(await service.bytesOf(output))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number): number[] => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
  return { output, at, size: [info.width, info.height] };
};

it("a vector is drawn once, as a PNG whose longer side has 2,048 pixels, and keeps what is transparent", async () => {
  const { output, at, size } = await runAndMeasure("image-convert", { format: "png" }, { image: HALF });
  expect([output.object?.contentType, size]).toEqual(["image/png", [2_048, 1_024]]);
  expect([at(500, 500), at(1_500, 500)]).toEqual([
    [255, 0, 0, 255],
    [0, 0, 0, 0],
  ]);
});

it.each([
  ["0 0 0.001 0.001", [2_048, 2_048]],
  ["0 0 90000 30000", [2_048, 683]],
  ["0 0 100000 1", [2_048, 2]],
  ["0 0 1e12 1e12", [2_048, 2_048]],
])("a vector whose view box is %s is drawn at the same bound", async (box, size) => {
  expect((await runAndMeasure("image-convert", {}, { image: drawing('<rect width="9" height="9"/>', box) })).size).toEqual(size);
});

it("operations take vectors among other pictures, and results are pictures", async () => {
  const { output, size, at } = await runAndMeasure("image-resize", { width: 100 }, { image: HALF });
  expect([output.object?.contentType, size]).toEqual(["image/png", [100, 50]]);
  expect(at(10, 10)).toEqual([255, 0, 0, 255]);
  const base = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#0000ff" } })
    .png()
    .toBuffer();
  const stamped = await runAndMeasure("image-composite", { width: 20, position: "top-left" }, { image: base, overlay: HALF });
  expect([stamped.at(2, 2), stamped.at(18, 2), stamped.size]).toEqual([
    [255, 0, 0, 255],
    [0, 0, 255, 255],
    [40, 40],
  ]);
});

it("texts are drawn with the bundled fonts, and a character that no font has is named", async () => {
  const ink = async (content: string): Promise<number> => {
    const { data } = await sharp(await service.bytesOf(await service.run("image-convert", {}, { image: drawing(content, "0 0 100 100") })))
      .extractChannel("alpha")
      .raw()
      .toBuffer({ resolveWithObject: true });
    return data.reduce((sum, alpha) => sum + alpha, 0);
  };
  const [narrow, wide] = [
    await ink('<text x="5" y="50" font-size="40">i</text>'),
    await ink('<text x="5" y="50" font-size="40">W &amp; 水</text>'),
  ];
  // A font without the letters would draw equal boxes.
  expect(narrow).toBeGreaterThan(0);
  expect(wide).toBeGreaterThan(3.5 * narrow);
  const failure = await service.failure("image-convert", {}, { image: drawing("<text>\u{10900}</text>") });
  expect(failure.message).toContain("image-convert: image: no font has \u{10900} (U+10900)");
});

it("thumbnails show what a vector draws", async () => {
  const { data, contentType } = await service.client.renderPreview({ key: await service.upload(HALF), width: 96 });
  const { width, height } = await sharp(data).metadata();
  expect([contentType, width, height]).toEqual(["image/webp", 96, 48]);
});

it("a vector that can't be drawn in the time for a picture ends alone", async () => {
  const dashes = `<path d="${"M0 0L1000 1000".repeat(2_000)}" stroke="red" stroke-dasharray="0.001"/>`;
  await service.run("image-resize", { width: 10 }, { image: drawing(dashes, "0 0 1000 1000") }).catch((error: { kind: string }) => {
    expect(error.kind).toBe("failed");
  });
  expect((await service.run("image-resize", { width: 10 }, { image: HALF })).width).toBe(10);
}, 180_000);
