import { randomUUID } from "node:crypto";
import sharp from "sharp";
import { transform } from "@nodeloom/proto";
import { tone, withFfmpeg } from "../../../test-support/clips";
import { startTransform, USER, type RunningTransform } from "./support/transform";

jest.setTimeout(240_000);

let service: RunningTransform;
beforeAll(async () => void (service = await startTransform()));
afterAll(() => service.stop());

const measure = async (file: Buffer, more: { loudness?: boolean; golden?: Buffer } = {}) => {
  const goldenKey = more.golden ? await service.upload(more.golden) : "";
  const request = { key: await service.upload(file), userId: USER, loudness: more.loudness ?? false, goldenKey };
  return service.client.measure(transform.MeasureRequest.fromPartial(request), { deadlineMs: 120_000 });
};

/** Whether a point of a picture of 40 × 30 is inside a shape. */
type Shape = (x: number, y: number) => boolean;
/** A picture of a shape on a gradient. Drawn as pixels, because the service blocks SVG in this process. */
const drawn = (shape: Shape, width = 400): sharp.Sharp => {
  const height = width * 0.75;
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [((at % width) * 40) / width, (Math.floor(at / width) * 30) / height];
    const colour = shape(x, y) ? [238, 51, 51] : [17 + x * 5, 34 + x * 5, 51 + x * 5];
    pixels.set(colour.map(Math.round), at * 3);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
};
/** A video of one of ffmpeg's test sources. */
const video = (source: string): Buffer =>
  withFfmpeg(["-f", "lavfi", "-i", `${source}=s=160x90:r=10`, "-t", "2", "-c:v", "libx264", "-pix_fmt", "yuv420p"], "out.mp4");
const volume = (factor: number): Buffer => tone(440, 2, "wav", ["-af", `volume=${factor}`]);
const CIRCLE: Shape = (x, y) => (x - 12) ** 2 + (y - 15) ** 2 < 81;
const BARS: Shape = (x, y) => y > 2 && y < 28 && x % 14 > 2 && x % 14 < 10;

describe("similarity to a golden file", () => {
  it("is close to 1 for the same picture in another format and size, and low for another picture", async () => {
    const golden = await drawn(CIRCLE).png().toBuffer();
    const same = await measure(await drawn(CIRCLE, 640).jpeg({ quality: 80 }).toBuffer(), { golden });
    const other = await measure(await drawn(BARS).png().toBuffer(), { golden });
    expect(same.ssim).toBeGreaterThan(0.95);
    expect(same.hash).toBeGreaterThan(0.95);
    expect(other.ssim).toBeLessThan(0.8);
    expect(other.hash).toBeLessThan(0.8);
  });

  it("compares frames of videos", async () => {
    const [one, other] = [video("testsrc2"), video("mandelbrot")];
    expect((await measure(one, { golden: one })).ssim).toBeGreaterThan(0.99);
    expect((await measure(other, { golden: one })).ssim).toBeLessThan(0.8);
  });

  it("fails for files of different kinds, and says which", async () => {
    const golden = await drawn(CIRCLE).png().toBuffer();
    await expect(measure(video("testsrc2"), { golden })).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: "measure: the file is video/mp4, and the golden file image/png",
    });
  });

  it("fails if a file is gone", async () => {
    const key = `${randomUUID().replaceAll("-", "")}.png`;
    const request = transform.MeasureRequest.fromPartial({ key, userId: USER, goldenKey: key });
    await expect(service.client.measure(request, { deadlineMs: 60_000 })).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
  });
});

describe("loudness", () => {
  it("is measured in LUFS", async () => {
    const [loud, quiet] = [await measure(volume(1), { loudness: true }), await measure(volume(0.1), { loudness: true })];
    expect(loud.loudness).toBeLessThan(-5);
    expect(loud.loudness! - quiet.loudness!).toBeCloseTo(20, 0);
  });

  it("fails for a picture and for silence", async () => {
    await expect(measure(await drawn(CIRCLE).png().toBuffer(), { loudness: true })).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
    await expect(measure(volume(0), { loudness: true })).rejects.toMatchObject({
      message: "measure: file: it is silent, so it has no loudness",
    });
  });
});
