import { join } from "node:path";
import type { LoadEngine } from "./engine";
import type { OcrLibrary, Sharp } from "./libraries";
import { openPicture } from "./pictures";

const MAX_PIXELS = 24_000_000;
const LONGEST_SIDE = 2_000;
/** Matches with a lower confidence are rarely text. */
const MIN_CONFIDENCE = 0.5;
const DIGITS = 1_000;

/** Recognizes text in an image, line by line from top to bottom, with the position of each line. */
export const loadOcr: LoadEngine = async (context) => {
  const sharp = await context.library<Sharp>("sharp");
  const { default: Ocr } = await context.library<OcrLibrary>("@gutenye/ocr-node");
  const ocr = await Ocr.create({ onnxOptions: { intraOpNumThreads: context.threads } });
  return {
    run: async ({ files, folder }) => {
      const { open, width, height } = await openPicture(sharp, files.image!, MAX_PIXELS);
      const shrink = Math.min(1, LONGEST_SIDE / Math.max(width, height));
      const page = join(folder, "page.png");
      const [small, low] = [Math.max(1, Math.round(width * shrink)), Math.max(1, Math.round(height * shrink))];
      await open().removeAlpha().resize(small, low, { fit: "fill" }).png().toFile(page);
      const words = await ocr.detect(page);
      const lines = words
        .filter(({ text, mean }) => text.trim() !== "" && mean >= MIN_CONFIDENCE)
        .map(({ text, mean, box = [] }) => ({
          text: text.trim(),
          confidence: Math.round(mean * DIGITS) / DIGITS,
          box: box.map((corner) => corner.map((value) => Math.round(value / shrink))),
        }));
      const text = lines.map((line) => line.text).join("\n");
      return { text, json: { text, lines, width, height } };
    },
  };
};
