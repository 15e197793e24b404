import { join } from "node:path";
import type { LoadEngine } from "./engine";
import type { Onnx, Sharp, Tensor } from "./libraries";
import { openPicture, openSession, rgbOf, type Pixels } from "./pictures";

/** Resolution at which U²-Net (small) computes foreground masks. */
const SIZE = 320;
const MAX_PIXELS = 24_000_000;
/** Mean of the training images, per channel. */
const MEAN = [0.485, 0.456, 0.406];
const DEVIATION = [0.229, 0.224, 0.225];

const normalized = ({ Tensor }: Onnx, { data }: Pixels): Tensor => {
  const plane = SIZE * SIZE;
  const brightest = Math.max(
    1,
    data.reduce((most, value) => Math.max(most, value), 0),
  );
  const values = new Float32Array(3 * plane);
  for (let pixel = 0; pixel < plane; pixel++) {
    for (let channel = 0; channel < 3; channel++)
      values[channel * plane + pixel] = (data[pixel * 3 + channel]! / brightest - MEAN[channel]!) / DEVIATION[channel]!;
  }
  return new Tensor("float32", values, [1, 3, SIZE, SIZE]);
};

/** Returns one byte per pixel, scaled to the full range. */
const maskOf = ({ data }: Tensor): Buffer => {
  const values = data as Float32Array;
  const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const range = most - least || 1;
  return Buffer.from(Uint8ClampedArray.from(values, (value) => ((value - least) / range) * 255).buffer);
};

/** Removes an image's background. The result is a PNG with transparency. */
export const loadCutout: LoadEngine = async (context) => {
  const sharp = await context.library<Sharp>("sharp");
  const { onnx, session } = await openSession(context, join(context.weights("cutout"), "u2netp.onnx"));
  return {
    run: async ({ files, folder }) => {
      const { open, width, height } = await openPicture(sharp, files.image!, MAX_PIXELS);
      const colours = await open().removeAlpha().png().toBuffer();
      const small = await rgbOf(sharp(colours).resize(SIZE, SIZE, { fit: "fill" }));
      const answer = await session.run({ [session.inputNames[0]!]: normalized(onnx, small) });
      const mask = maskOf(answer[session.outputNames[0]!]!);
      const alpha = await sharp(mask, { raw: { width: SIZE, height: SIZE, channels: 1 } })
        .resize(width, height, { fit: "fill" })
        .toColourspace("b-w")
        .raw()
        .toBuffer();
      await sharp(colours)
        .joinChannel(alpha, { raw: { width, height, channels: 1 } })
        .png()
        .toFile(join(folder, "cutout.png"));
      return { files: [{ name: "cutout.png", contentType: "image/png" }] };
    },
  };
};
