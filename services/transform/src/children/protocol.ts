/** Messages between the service and its children. Files are passed as paths. */

export interface WorkFile {
  port: string;
  path: string;
  /** The type that media sniffed. */
  contentType: string;
}

export interface WorkRequest {
  /** An operation of the kernel's table, or `preview`. */
  operation: string;
  /** Validated, with defaults. */
  settings: Record<string, unknown>;
  files: WorkFile[];
  /** The operation's own folder: the child writes nowhere else. */
  folder: string;
  /** Path of ffmpeg, for operations that need it. */
  ffmpeg: string | null;
}

export interface WorkResult {
  path: string;
  width?: number;
  height?: number;
  durationSeconds?: number;
  /** Sentences about parts of the files that the result leaves out. */
  warnings?: string[];
}

export type FromChild = { type: "ready" } | { type: "done"; result: WorkResult } | { type: "failed"; message: string; isInput: boolean };
export type ToChild = { type: "work"; request: WorkRequest };

export class WorkFailure extends Error {
  override readonly name = "WorkFailure";
  constructor(
    /** input: unsuitable files or settings. bounds: exceeded a bound. ended: process killed or crashed. fault: anything else. */
    readonly kind: "input" | "bounds" | "ended" | "fault",
    message: string,
  ) {
    super(message);
  }
}
