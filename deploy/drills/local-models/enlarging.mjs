import { DETAILED, psnr, THINGS } from "./pictures.mjs";

/** Enlarges reduced drawings and compares them with the originals. */

const SCALE = 4;
const [WIDTH, HEIGHT] = [512, 384];
/** A heavily compressed picture. */
const JPEG = { quality: 25 };

/** @param {import("./stage.mjs").Stage} stage */
export const upscale = async ({ drill, once, run, upload, fetched, untilReady, sharp, png, pixels }) => {
  const smallOf = async (/** @type {Buffer} */ svg) => sharp(await png(svg)).resize(WIDTH / SCALE, HEIGHT / SCALE, { kernel: "cubic" });
  /** @param {string} model @param {Buffer} small @param {Buffer} svg the original @param {typeof run | undefined} [measured] */
  const byModel = async (model, small, svg, measured) => {
    const inputs = { image: await upload(small) };
    const { images } = measured ? await measured(model, "128 × 96 to 512 × 384", inputs) : (await once(model, inputs)).result;
    return psnr(await pixels(sharp(await fetched(images[0].url))), await pixels(sharp(svg)));
  };
  const clean = await (await smallOf(DETAILED)).png().toBuffer();
  const ours = await byModel("local-upscale", clean, DETAILED, run);
  const interpolated = await sharp(clean).resize(WIDTH, HEIGHT, { kernel: "cubic" }).png().toBuffer();
  const bicubic = psnr(await pixels(sharp(interpolated)), await pixels(sharp(DETAILED)));
  drill.check([
    "an enlarged picture is nearer to the original than by bicubic interpolation",
    ours >= bicubic,
    `${ours.toFixed(2)} dB, bicubic ${bicubic.toFixed(2)} dB`,
  ]);
  await untilReady("local-restore");
  drill.say(`of the clean picture local-restore makes one of ${(await byModel("local-restore", clean, DETAILED, run)).toFixed(2)} dB`);
  for (const { name, picture } of [{ name: "drawing", picture: DETAILED }, ...THINGS]) {
    const compressed = await sharp(await (await smallOf(picture)).jpeg(JPEG).toBuffer())
      .png()
      .toBuffer();
    const [restored, plain] = [await byModel("local-restore", compressed, picture), await byModel("local-upscale", compressed, picture)];
    drill.check([
      `of a compressed ${name} local-restore makes one that is nearer to the original`,
      restored >= plain,
      `${restored.toFixed(2)} dB, local-upscale ${plain.toFixed(2)} dB`,
    ]);
  }
};
