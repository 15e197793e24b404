import type { Reason } from "@nodeloom/kernel";

export interface ErrorEntry {
  status: number;
  /** Cause of the error, as a sentence. */
  when: string;
  /** What the client can do, in sentences. */
  fix: string;
  /** Body members besides `error`, `code` and `doc`, with their meaning. Each is optional. */
  members?: Readonly<Record<string, string>>;
}

/** Errors of one area, by code. */
export type ErrorEntries = Partial<Record<Reason, ErrorEntry>>;

export const RETRY_AFTER = { retryAfter: "seconds to wait, as in `Retry-After`" } as const;
export const FAILED_RUN = { executionId: "the run", nodeId: "the node that failed" } as const;
