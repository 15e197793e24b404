import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { assetFolder, assetsFolder, FFMPEG_ASSET } from "@nodeloom/platform";
import { fetchAssets } from "../services/inference/src/fetch/fetch-assets";

export const FETCH_MS = 15 * 60_000;
const LOOK_MS = 500;
const HELP = "set FFMPEG_PATH, or install ffmpeg so that it is on PATH";

const fetched = (): string => join(assetFolder(assetsFolder(process.env), "ffmpeg", FFMPEG_ASSET), "ffmpeg");
const findOnPath = (): string | undefined =>
  process.env.FFMPEG_PATH ||
  [...(process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "ffmpeg")), fetched()].find((path) => existsSync(path));

/** Path of the ffmpeg that the transform service uses. @throws without one */
export const ffmpegPath = (): string => {
  const path = findOnPath();
  if (path === undefined) throw new Error(`there is no ffmpeg: ${HELP}`);
  return path;
};

/** Downloads ffmpeg like a new installation if the machine has none. @throws if the download fails */
export const fetchFfmpeg = async (): Promise<void> => {
  while (findOnPath() === undefined) {
    const progress = await fetchAssets({ root: assetsFolder(process.env), assets: { ffmpeg: FFMPEG_ASSET } });
    if (progress?.failures.ffmpeg) throw new Error(`ffmpeg can't be fetched (${progress.failures.ffmpeg}): ${HELP}`);
    // Waits while another suite downloads it.
    await delay(LOOK_MS);
  }
};

/** For tests that need ffmpeg, which is downloaded once if it is missing. */
export const describeWithFfmpeg = (name: string, body: () => void): void =>
  describe(name, () => {
    beforeAll(fetchFfmpeg, FETCH_MS);
    body();
  });
