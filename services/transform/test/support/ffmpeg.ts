import { execFileSync } from "node:child_process";

/** The ffmpeg of this machine, if it has one: `npm test` does not fetch it, `npm run drill media` does. */
export const ffmpegPath = (): string | undefined => {
  try {
    return execFileSync("sh", ["-c", 'command -v "$0"', process.env.FFMPEG_PATH || "ffmpeg"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
};

/** Tests that need ffmpeg; without one they count as skipped. */
export const describeWithFfmpeg: jest.Describe = ffmpegPath() === undefined ? describe.skip : describe;
