import sharp from "sharp";
import type { Font } from "./fonts";

/** Makes fonts available to pango and librsvg. libvips accepts one font file per call, but keeps fonts from earlier calls. */
export const loadFonts = async (fonts: readonly Font[]): Promise<void> => {
  for (const { path } of fonts) await sharp({ text: { text: ".", fontfile: path } }).toBuffer();
};
