import { join } from "node:path";
import type { WorkFile, WorkResult } from "../children/protocol";

/** Thrown for unsuitable files or settings. The message becomes the node's error. */
export class InputError extends Error {
  override readonly name = "InputError";
}

export interface Job {
  settings: Readonly<Record<string, unknown>>;
  files: readonly WorkFile[];
  /** Working folder, in which ffmpeg also runs. */
  folder: string;
  /** Path of ffmpeg. */
  ffmpeg: string;
  /** Reports a part of the files that isn't in the result. The node shows the message as a warning. */
  warn(message: string): void;
}

export type Operation = (job: Job) => Promise<WorkResult>;

export const filesAt = ({ files }: Pick<Job, "files">, port: string): WorkFile[] => files.filter((file) => file.port === port);

/** @throws InputError */
export const fileAt = (job: Pick<Job, "files">, port: string): WorkFile => {
  const [file] = filesAt(job, port);
  if (!file) throw new InputError(`${port}: is needed`);
  return file;
};

type Settings = Pick<Job, "settings">;

export const numberOf = ({ settings }: Settings, name: string): number | undefined => {
  const value = settings[name];
  return typeof value === "number" ? value : undefined;
};
/** Returns a setting that has a default. */
export const number = (job: Settings, name: string): number => numberOf(job, name) ?? 0;
export const text = ({ settings }: Settings, name: string): string => {
  const value = settings[name];
  return typeof value === "string" ? value : "";
};
export const isOn = ({ settings }: Settings, name: string): boolean => settings[name] === true;

export const inFolder = ({ folder }: Pick<Job, "folder">, name: string): string => join(folder, name);
