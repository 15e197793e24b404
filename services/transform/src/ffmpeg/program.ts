import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { unavailable } from "@nodeloom/kernel";
import { assetsFolders, availabilityOf, FFMPEG_ASSET, foldersOf } from "@nodeloom/platform";

/** Finds ffmpeg in the environment, otherwise on PATH, otherwise in the copy downloaded with local models. */

export interface ProgramStatus {
  state: "ready" | "downloading" | "away";
  version: string;
  reason: string;
  retryAfterSeconds: number;
}

export interface Program {
  status(): Promise<ProgramStatus>;
  /** @throws DomainError SERVICE_UNAVAILABLE if ffmpeg is missing */
  ready(): Promise<{ path: string; version: string }>;
}

export interface ProgramOptions {
  FFMPEG_PATH?: string | undefined;
  NODELOOM_CACHE_DIR?: string | undefined;
  LOCAL_MODELS_DIR?: string | undefined;
}

const run = promisify(execFile);
const VERSION_MS = 10_000;
const RETRY_SECONDS = 60;
const VERSION = /^ffmpeg version (\S+)/;
const ASSETS = { ffmpeg: FFMPEG_ASSET };
const WHERE = "set FFMPEG_PATH, or install ffmpeg so that it is on PATH";
const MB = 1_000_000;

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const onPath = async (): Promise<string | undefined> => {
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, "ffmpeg");
    if (await isProgram(path)) return path;
  }
  return undefined;
};

const versionOf = async (path: string): Promise<string> => {
  const { stdout } = await run(path, ["-hide_banner", "-version"], { timeout: VERSION_MS });
  return VERSION.exec(stdout)?.[1] ?? "unknown";
};

const notThere = (state: "downloading" | "away", reason: string, retryAfterSeconds: number): ProgramStatus => ({
  ...{ state, reason, retryAfterSeconds },
  version: "",
});

/** Repeats the search until ffmpeg is found, because it may be downloaded later. */
export const findFfmpeg = (options: ProgramOptions): Program => {
  const roots = assetsFolders(options);
  let program: { path: string; version: string } | undefined;

  const look = async (): Promise<ProgramStatus> => {
    const configuredPath = options.FFMPEG_PATH || undefined;
    if (configuredPath !== undefined && !(await isProgram(configuredPath)))
      return notThere("away", `FFMPEG_PATH is ${configuredPath}, which isn't a program`, RETRY_SECONDS);
    let path = configuredPath ?? (await onPath());
    if (path === undefined) {
      const availability = await availabilityOf(roots, ASSETS);
      if (availability.status === "downloading") {
        const { leftBytes, retryAfterSeconds } = availability;
        return notThere("downloading", `ffmpeg is being downloaded (${Math.ceil(leftBytes / MB)} MB left): wait for it`, retryAfterSeconds);
      }
      if (availability.status === "away") return notThere("away", `there is no ffmpeg: ${WHERE}; ${availability.reason}`, RETRY_SECONDS);
      path = join((await foldersOf(roots, ASSETS)).ffmpeg ?? "", "ffmpeg");
    }
    try {
      program = { path, version: await versionOf(path) };
    } catch (error) {
      return notThere("away", `${path} does not work: ${error instanceof Error ? error.message : String(error)}`, RETRY_SECONDS);
    }
    return { state: "ready", version: program.version, reason: "", retryAfterSeconds: 0 };
  };

  const status = (): Promise<ProgramStatus> =>
    program ? Promise.resolve({ state: "ready", version: program.version, reason: "", retryAfterSeconds: 0 }) : look();
  return {
    status,
    ready: async () => {
      const { reason, retryAfterSeconds } = await status();
      if (!program) throw unavailable(reason, retryAfterSeconds);
      return program;
    },
  };
};
