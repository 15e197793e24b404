/** Messages between the service and its child processes. Files are passed as paths. */

export interface WorkFile {
  port: string;
  path: string;
  /** The type that the media service detected. */
  contentType: string;
}

export interface WorkRequest {
  /** Name of an operation in the kernel's table, `preview` or `measure`. */
  operation: string;
  /** Validated settings, with defaults filled in. */
  settings: Record<string, unknown>;
  files: WorkFile[];
  /** Folder of the operation. The child writes only here. */
  folder: string;
  /** Path of ffmpeg, for operations that need it. */
  ffmpeg: string | null;
}

export interface WorkResult {
  path: string;
  width?: number;
  height?: number;
  durationSeconds?: number;
  /** Sentences about parts of the files that aren't in the result. */
  warnings?: string[];
}

export type FromChild = { type: "ready" } | { type: "done"; result: WorkResult } | { type: "failed"; message: string; isInput: boolean };
export type ToChild = { type: "work"; request: WorkRequest };

export class WorkFailure extends Error {
  override readonly name = "WorkFailure";
  constructor(
    /**
     * `input`: unsuitable files or settings. `bounds`: a bound was exceeded. `ended`: the process was killed or crashed. `fault`: any other
     * reason.
     */
    readonly kind: "input" | "bounds" | "ended" | "fault",
    message: string,
  ) {
    super(message);
  }
}
