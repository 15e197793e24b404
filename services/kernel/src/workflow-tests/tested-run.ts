/** The run of a test, with the properties and measurements by which it is judged. */
import type { Vote } from "./judge-questions";
import type { Expectation, FileNumber } from "./types";

/** Known properties of a stored file. */
export type TestedFile = { contentType: string } & Partial<Record<FileNumber, number | undefined>>;

/** The result of a measurement; `problem` if there is none. */
export interface Measurement {
  /** In LUFS. */
  loudness?: number;
  ssim?: number;
  hash?: number;
  text?: string;
  vote?: Vote;
  problem?: string;
}
export type Measurements = Readonly<Record<string, Measurement>>;

export interface TestedRun {
  status: string;
  error: { code: string; message: string } | null;
  /** The result; undefined if the run has none. */
  result: unknown;
  /** Price of all calls, including reused ones. */
  millicredits: number;
  durationMs: number | null;
  fileAt(url: string): TestedFile | undefined;
  /** By key; absent if nothing was measured. */
  measurements?: Measurements | undefined;
  /** True for the version to compare with. Its results aren't compared with others. */
  isGolden?: boolean;
}

/** True for an expectation that compares versions, on the version to compare with. */
export const isUncompared = ({ judge }: Expectation, { isGolden }: TestedRun): boolean => isGolden === true && judge?.against !== undefined;

export const COMPLETED = "completed";

export const fileKey = (index: number, file: number): string => `${index}.${file}.file`;
export const textKey = (index: number, file: number): string => `${index}.${file}.text`;
export const VOTE_END = ".vote";
export const voteKey = (index: number, place: number): string => `${index}.${place}${VOTE_END}`;
/** Key of the problem by which an expectation can't be measured. */
export const problemKey = (index: number): string => `${index}.problem`;
