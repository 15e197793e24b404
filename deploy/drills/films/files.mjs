import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ffmpeg } from "../local-models/service.mjs";
import { ROOT } from "../support/platform.mjs";

export const OUT = join(ROOT, ".nodeloom", "drills", "films");
const MOST_BYTES = 256 * 1_024 * 1_024;

/** @param {string} url */
export const fetched = async (url) => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
};

/** Stores a file for inspection. @param {string} name @param {Buffer} bytes @returns {string} path of the file */
export const keep = (name, bytes) => {
  mkdirSync(OUT, { recursive: true });
  const path = join(OUT, name);
  writeFileSync(path, bytes);
  return path;
};

/** Runs ffmpeg and returns its output. @param {readonly string[]} args */
export const runFfmpeg = (args) => {
  const { stdout, stderr, status } = spawnSync(ffmpeg(), ["-hide_banner", "-nostdin", ...args], { maxBuffer: MOST_BYTES });
  return { output: stdout, stderr: stderr.toString(), status };
};

/**
 * Decodes a film completely and returns its properties.
 * @param {string} path @returns {{ width: number, height: number, seconds: number, frames: number, hasSound: boolean, isWhole: boolean }}
 */
export const contentsOf = (path) => {
  const { stderr, status } = runFfmpeg(["-i", path, "-map", "0", "-f", "null", "-"]);
  const [, width, height] = /Video:.*? (\d{2,5})x(\d{2,5})/.exec(stderr) ?? [];
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(stderr) ?? [];
  const frames = [...stderr.matchAll(/frame=\s*(\d+)/g)].at(-1)?.[1];
  return {
    width: Number(width),
    height: Number(height),
    seconds: Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds),
    frames: Number(frames),
    hasSound: /Audio:/.test(stderr),
    isWhole: status === 0 && !/error|invalid|corrupt/i.test(stderr),
  };
};
