import { isOwnMedia } from "./url";

/** Thumbnail widths of media, in device pixels. */
const WIDTHS = [96, 192, 384, 768, 1536, 2048];

/** Address of a picture for a width in device pixels: its thumbnail, or the file if it is wider than all of them. */
export const thumbnailUrl = (url: string, width: number): string => {
  const enough = WIDTHS.find((one) => one >= width);
  const isAsked = /[?&](?:w|look)=/.test(url);
  return enough === undefined || !isOwnMedia(url) || isAsked ? url : `${url}${url.includes("?") ? "&" : "?"}w=${enough}`;
};

/** If a thumbnail is missing, files up to this size are shown themselves. */
const MAX_ORIGINAL_BYTES = 5_000_000;

export const mayStandIn = async (url: string): Promise<boolean> => {
  const { ok, headers } = await fetch(url, { method: "HEAD" });
  return ok && Number(headers.get("content-length") ?? Infinity) <= MAX_ORIGINAL_BYTES;
};
