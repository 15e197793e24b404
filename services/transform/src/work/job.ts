import { join } from "node:path";
import type { WorkFile, WorkResult } from "../children/protocol";

/** One operation as the code that does it sees it. */

/** The files or the settings can't be used so: the message says what, and becomes the node's error. */
export class InputError extends Error {
  override readonly name = "InputError";
}

export interface Job {
  settings: Readonly<Record<string, unknown>>;
  files: readonly WorkFile[];
  /** Its working folder, and the folder that ffmpeg runs in. */
  folder: string;
  /** Path of ffmpeg. */
  ffmpeg: string;
  /** Notes a part of the files that the result leaves out. The node shows it. */
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
/** Of a setting that has a default. */
export const number = (job: Settings, name: string): number => numberOf(job, name) ?? 0;
export const text = ({ settings }: Settings, name: string): string => {
  const value = settings[name];
  return typeof value === "string" ? value : "";
};
export const isOn = ({ settings }: Settings, name: string): boolean => settings[name] === true;

/** A path inside the job's folder. */
export const inFolder = ({ folder }: Pick<Job, "folder">, name: string): string => join(folder, name);
