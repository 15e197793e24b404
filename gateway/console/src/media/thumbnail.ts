import { isOwnMedia } from "./url";

/** Widths that media makes thumbnails in, in device pixels. */
const WIDTHS = [96, 192, 384, 768, 1536, 2048];

/** The address of a picture that is drawn so wide, in device pixels: its thumbnail, or the file itself where it is wider than any. */
export const thumbnailUrl = (url: string, width: number): string => {
  const enough = WIDTHS.find((one) => one >= width);
  return enough === undefined || !isOwnMedia(url) || url.includes("?") ? url : `${url}?w=${enough}`;
};

/** Files up to this size are shown themselves while no thumbnail can be made. */
const MAX_ORIGINAL_BYTES = 5_000_000;

/** Whether a file is small enough to stand in for its thumbnail. */
export const mayStandIn = async (url: string): Promise<boolean> => {
  const { ok, headers } = await fetch(url, { method: "HEAD" });
  return ok && Number(headers.get("content-length") ?? Infinity) <= MAX_ORIGINAL_BYTES;
};
