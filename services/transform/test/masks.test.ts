import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { startTransform, type RunningTransform } from "./support/transform";

let service: RunningTransform;
beforeAll(async () => {
  service = await startTransform();
});
afterAll(() => service.stop());

const SAMPLES = join(__dirname, "..", "..", "..", "deploy", "local", "seed", "templates", "samples");
const photo = (): Buffer => readFileSync(join(SAMPLES, "mug.jpg"));

type Files = Parameters<RunningTransform["run"]>[2];

const runAndRead = async (operation: string, settings: object, files: Files) => {
  const output = await service.run(operation, settings, files);
  const bytes = await service.bytesOf(output);
  const metadata = await sharp(bytes).metadata();
  const picture = metadata.channels === 1 ? sharp(bytes).toColourspace("b-w") : sharp(bytes);
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number): number[] => [...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels)];
  return { output, bytes, data, at, info, metadata };
};

/** A grey picture whose levels are given row by row. */
const grey = (width: number, levels: readonly number[]): Promise<Buffer> =>
  sharp(Buffer.from(levels), { raw: { width, height: levels.length / width, channels: 1 } })
    .png()
    .toBuffer();
const plain = (width: number, height: number, background: { r: number; g: number; b: number; alpha: number } | string): Promise<Buffer> =>
  sharp({ create: { width, height, channels: typeof background === "string" ? 3 : 4, background } })
    .png()
    .toBuffer();
/** A mask of 40 × 20 pixels whose left half is selected. */
const leftHalf = (): Promise<Buffer> =>
  grey(
    40,
    Array.from({ length: 800 }, (_, index) => (index % 40 < 20 ? 255 : 0)),
  );
const rectangle = (x: number, y: number, width: number, height: number, erase = false): object => ({
  tool: "rectangle",
  ...{ x, y, width, height, ...(erase ? { erase } : {}) },
});

describe("a mask", () => {
  it("is a one-channel PNG with the size of its image, and white is selected", async () => {
    const { output, metadata, at } = await runAndRead("mask-draw", { shapes: [rectangle(0.25, 0.5, 0.5, 0.25)] }, { image: photo() });
    const { width, height } = await sharp(photo()).metadata();
    expect(output.object!.contentType).toBe("image/png");
    expect([metadata.width, metadata.height, metadata.channels, metadata.space]).toEqual([width, height, 1, "b-w"]);
    const [left, top, right, bottom] = [width * 0.25, height * 0.5, width * 0.75, height * 0.75].map(Math.round) as [
      number,
      number,
      number,
      number,
    ];
    expect([at(left, top), at(right - 1, bottom - 1)]).toEqual([[255], [255]]);
    expect([at(left - 1, top), at(left, top - 1), at(right, top), at(left, bottom)]).toEqual([[0], [0], [0], [0]]);
  });

  it("has the same pixels for the same strokes, and erasing takes away what was drawn before", async () => {
    const stroke = { tool: "brush", size: 0.2, points: [[0.2, 0.5], [0.8, 0.5]] }; // prettier-ignore
    const shapes = [stroke, { ...stroke, points: [[0.5, 0.5]], erase: true }];
    const image = await plain(100, 50, "#888888");
    const [one, other] = [await runAndRead("mask-draw", { shapes }, { image }), await runAndRead("mask-draw", { shapes }, { image })];
    expect(one.bytes.equals(other.bytes)).toBe(true);
    // The stroke is 20 pixels wide, from x = 10 to 90; the eraser removes a disc around x = 50.
    expect([one.at(30, 15), one.at(30, 14), one.at(30, 34), one.at(30, 35)]).toEqual([[255], [0], [255], [0]]);
    expect([one.at(10, 24), one.at(9, 24), one.at(89, 24), one.at(90, 24)]).toEqual([[255], [0], [255], [0]]);
    expect([one.at(39, 24), one.at(40, 24), one.at(59, 24), one.at(60, 24)]).toEqual([[255], [0], [0], [255]]);
  });

  it("covers exactly the pixels whose centres are within half a brush of a slanted stroke", async () => {
    const image = await plain(60, 40, "#888888");
    const { data } = await runAndRead("mask-draw", { shapes: [{ tool: "brush", size: 0.15, points: [[0.2, 0.25], [0.75, 0.9]] }] }, { image }); // prettier-ignore
    const [a, b, radius] = [[12, 10], [45, 36], 4.5] as const; // prettier-ignore
    const distance = (x: number, y: number): number => {
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const along = Math.min(1, Math.max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)));
      return Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
    };
    const expectedLevels = Array.from({ length: 60 * 40 }, (_, index) =>
      distance((index % 60) + 0.5, Math.floor(index / 60) + 0.5) <= radius ? 255 : 0,
    );
    expect([...data]).toEqual(expectedLevels);
  });

  it("starts from another mask, and can be inverted and feathered", async () => {
    const image = await plain(80, 40, "#888888");
    const files = { image, mask: await leftHalf() };
    const { at } = await runAndRead(
      "mask-draw",
      { shapes: [rectangle(0.75, 0, 0.25, 1), rectangle(0, 0, 0.25, 1, true)], invert: true },
      files,
    );
    expect([at(5, 20), at(30, 20), at(50, 20), at(70, 20)]).toEqual([[255], [0], [255], [0]]);
    const soft = await runAndRead("mask-draw", { shapes: [rectangle(0, 0, 0.5, 1)], feather: 8 }, { image });
    const row = Array.from({ length: 80 }, (_, x) => soft.at(x, 20)[0]!);
    expect([row[10], row[70]]).toEqual([255, 0]);
    expect(row[39]! + row[40]!).toBe(255);
    expect(row.every((level, x) => x === 0 || level <= row[x - 1]!)).toBe(true);
  });

  it("selects the opaque or the bright parts of an image", async () => {
    const cutout = await sharp(await plain(40, 20, { r: 255, g: 0, b: 0, alpha: 1 }))
      .composite([{ input: await plain(10, 20, { r: 0, g: 0, b: 0, alpha: 1 }), left: 0, top: 0, blend: "dest-out" }])
      .png()
      .toBuffer();
    const byAlpha = await runAndRead("mask-from-image", {}, { image: cutout });
    expect([byAlpha.at(9, 10), byAlpha.at(10, 10), byAlpha.metadata.channels]).toEqual([[0], [255], 1]);
    const levels = await grey(4, [0, 100, 150, 255]);
    expect([...(await runAndRead("mask-from-image", { by: "brightness" }, { image: levels })).data]).toEqual([0, 100, 150, 255]);
    expect([...(await runAndRead("mask-from-image", { by: "brightness", threshold: 0.5 }, { image: levels })).data]).toEqual([
      0, 0, 255, 255,
    ]);
    expect([...(await runAndRead("mask-from-image", { by: "brightness", invert: true }, { image: levels })).data]).toEqual([
      255, 155, 105, 0,
    ]);
    // An image without transparency is completely opaque.
    expect([...(await runAndRead("mask-from-image", {}, { image: levels })).data]).toEqual([255, 255, 255, 255]);
  });

  it("joins, intersects and subtracts, and scales the other mask to the first", async () => {
    const [mask, other] = [
      await leftHalf(),
      await sharp(await leftHalf())
        .resize(80, 40, { kernel: "nearest" })
        .rotate(180)
        .png()
        .toBuffer(),
    ];
    const rows = await Promise.all(
      ["union", "intersect", "subtract"].map(async (method) => {
        const { at, info } = await runAndRead("mask-combine", { method }, { mask, other });
        return [info.width, at(5, 10)[0], at(30, 10)[0]];
      }),
    );
    expect(rows).toEqual([
      [40, 255, 255],
      [40, 0, 0],
      [40, 255, 0],
    ]);
    const soft = await runAndRead(
      "mask-combine",
      { method: "subtract" },
      { mask: await grey(2, [200, 40]), other: await grey(2, [100, 250]) },
    );
    expect([...soft.data]).toEqual([155, 5]);
  });

  it("grows and shrinks by circles", async () => {
    const dot = await grey(
      21,
      Array.from({ length: 21 * 21 }, (_, index) => (index === 10 * 21 + 10 ? 255 : 0)),
    );
    const { data } = await runAndRead("mask-grow", { pixels: 5 }, { mask: dot });
    const disc = Array.from({ length: 21 * 21 }, (_, index) => (Math.hypot((index % 21) - 10, Math.floor(index / 21) - 10) <= 5 ? 255 : 0));
    expect([...data]).toEqual(disc);
    const back = await runAndRead("mask-grow", { pixels: -5 }, { mask: await grey(21, disc) });
    expect([...back.data].filter((level) => level === 255)).toHaveLength(1);
    const half = await runAndRead("mask-grow", { pixels: 3 }, { mask: await leftHalf() });
    expect([half.at(22, 10), half.at(23, 10)]).toEqual([[255], [0]]);
  });

  it("blurs and inverts", async () => {
    const { at } = await runAndRead("mask-blur", { feather: 6 }, { mask: await leftHalf() });
    expect([at(5, 10), at(35, 10)]).toEqual([[255], [0]]);
    expect(Math.abs(at(19, 10)[0]! + at(20, 10)[0]! - 255)).toBeLessThan(4);
    expect([...(await runAndRead("mask-invert", {}, { mask: await grey(3, [0, 60, 255]) })).data]).toEqual([255, 195, 0]);
  });

  it("is read from any image file: transparent parts are selected, otherwise white", async () => {
    const holes = await sharp(await plain(40, 20, { r: 0, g: 0, b: 255, alpha: 1 }))
      .composite([{ input: await plain(10, 20, { r: 0, g: 0, b: 0, alpha: 1 }), left: 0, top: 0, blend: "dest-out" }])
      .png()
      .toBuffer();
    const maskResult = await runAndRead("image-from-mask", {}, { mask: holes });
    expect([maskResult.at(5, 5), maskResult.at(20, 5), maskResult.metadata.channels]).toEqual([[255], [0], 1]);
    const jpeg = await sharp(await leftHalf())
      .jpeg({ quality: 100 })
      .toBuffer();
    const { at } = await runAndRead("image-from-mask", {}, { mask: jpeg });
    expect([at(5, 5), at(35, 5)]).toEqual([[255], [0]]);
  });
});

describe("images and masks", () => {
  it("keeps the selected part of an image, or the rest, and the image's own transparency", async () => {
    const image = await plain(80, 40, "#ff0000");
    const selected = await runAndRead("image-mask", {}, { image, mask: await leftHalf() });
    expect([selected.at(10, 20), selected.at(70, 20), selected.metadata.format]).toEqual([[255, 0, 0, 255], [255, 0, 0, 0], "png"]);
    const rest = await runAndRead("image-mask", { keep: "rest" }, { image, mask: await leftHalf() });
    expect([rest.at(10, 20)[3], rest.at(70, 20)[3]]).toEqual([0, 255]);
    const faint = await runAndRead(
      "image-mask",
      {},
      { image: await plain(2, 1, { r: 9, g: 9, b: 9, alpha: 0.5 }), mask: await grey(2, [255, 128]) },
    );
    expect([faint.at(0, 0)[3], faint.at(1, 0)[3]]).toEqual([128, 64]);
  });

  it("keeps a photo's colors where the mask selects it", async () => {
    const mask = await grey(1, [255]);
    const { bytes } = await runAndRead("image-mask", {}, { image: photo(), mask });
    const [own, before] = await Promise.all([bytes, photo()].map((one) => sharp(one).removeAlpha().raw().toBuffer()));
    expect(own!.equals(before!)).toBe(true);
  });

  it("writes a mask as OpenAI takes it: transparent where it is selected, at the size of the image", async () => {
    const files = { mask: await leftHalf(), image: await plain(80, 40, "#123456") };
    const { at, info } = await runAndRead("image-from-mask", { form: "transparent" }, files);
    expect([info.width, info.height, at(10, 20)[3], at(70, 20)[3]]).toEqual([80, 40, 0, 255]);
    const black = await runAndRead("image-from-mask", { form: "black" }, files);
    expect([black.at(10, 20), black.at(70, 20)]).toEqual([[0], [255]]);
  });

  it("adds transparent space around an image, which can be selected", async () => {
    const { bytes, at, info } = await runAndRead("image-extend", { left: 10, top: 5 }, { image: await plain(20, 20, "#ff0000") });
    expect([info.width, info.height, at(9, 10), at(10, 4), at(10, 5)]).toEqual([30, 25, [0, 0, 0, 0], [0, 0, 0, 0], [255, 0, 0, 255]]);
    const added = await runAndRead("mask-from-image", { invert: true }, { image: bytes });
    expect([added.at(9, 10), added.at(10, 5)]).toEqual([[255], [0]]);
  });

  it("says what is wrong with shapes and sizes", async () => {
    const image = await plain(20, 20, "#ff0000");
    const points = Array.from({ length: 2_000 }, () => [0.5, 0.5]);
    const many = Array.from({ length: 11 }, () => ({ tool: "brush", size: 0.1, points }));
    const messages = await Promise.all([
      service.failure("mask-draw", { shapes: [{ tool: "brush", size: 0.1 }] }, { image }),
      service.failure("mask-draw", { shapes: [{ tool: "pen" }] }, { image }),
      service.failure("mask-draw", { shapes: many }, { image }),
      service.failure("image-extend", { left: 8_192 }, { image }),
      service.failure("image-extend", {}, { image }),
    ]);
    expect(messages.map(({ message }) => message)).toEqual([
      expect.stringMatching(/shapes.*points/),
      expect.stringMatching(/shapes.*brush/),
      "mask-draw: shapes: have 22000 points; use at most 20000",
      expect.stringContaining("its sides can have at most 8192"),
      expect.stringContaining("left, right, top, bottom"),
    ]);
  });
});
