/** What the service and its children say to each other. Files travel by their paths. */

export interface WorkFile {
  port: string;
  path: string;
  /** As media sniffed it from the bytes. */
  contentType: string;
}

export interface WorkRequest {
  /** An operation of the kernel's table, or `preview`. */
  operation: string;
  /** Checked by the operation's schema, defaults filled in. */
  settings: Record<string, unknown>;
  files: WorkFile[];
  /** The operation's own: nothing is written elsewhere. */
  folder: string;
  /** Path of the program, for operations that need it. */
  ffmpeg: string | null;
}

export interface WorkResult {
  path: string;
  width?: number;
  height?: number;
  durationSeconds?: number;
  /** Parts of the files that the result leaves out, in sentences. */
  warnings?: string[];
}

export type FromChild = { type: "ready" } | { type: "done"; result: WorkResult } | { type: "failed"; message: string; isInput: boolean };
export type ToChild = { type: "work"; request: WorkRequest };

/** Why an operation gave no result. */
export class WorkFailure extends Error {
  override readonly name = "WorkFailure";
  constructor(
    /** input: the files or settings can't be used so; bounds: it used more than it may; ended: its process was killed or crashed; fault: all else. */
    readonly kind: "input" | "bounds" | "ended" | "fault",
    message: string,
  ) {
    super(message);
  }
}
