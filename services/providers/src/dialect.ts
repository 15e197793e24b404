import type { JsonSchema } from "@nodeloom/kernel";
import type { EgressClient, OwnServers } from "@nodeloom/platform";
import type { ProviderSettings } from "./entries/settings";
import type { ToolCall } from "./chat/tools";

/** The interface of a dialect, its input, and the error of a provider. */

/** A failed call to a provider. `kind` decides how the run reacts. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    /**
     * refused: error status; failed: the job ended with an error; incomplete: it ended without the expected output; unreachable: nothing
     * was sent; ambiguous: the provider can have received it; unavailable: not called, because the provider is down or too many calls
     * are running.
     */
    readonly kind: "refused" | "failed" | "incomplete" | "unreachable" | "ambiguous" | "unavailable",
    message: string,
    readonly status?: number,
    readonly body?: string,
    /** Wait before the next call in milliseconds, if known (Retry-After). */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** True for a temporary failure of a call that is safe to repeat. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ProviderError &&
  (error.kind === "unreachable" || error.kind === "ambiguous" || error.status === 429 || (error.status ?? 0) >= 500);

export interface Submission {
  requestId: string;
  /** Addresses for polling, if the provider's answer contains them. Plain JSON. */
  handle?: Record<string, string>;
}

/** A file in a provider's response: its address, a stream of its bytes that can be read once, or bytes that can be read repeatedly. */
export type ProviderFile =
  | { url: string }
  | { bytes: AsyncIterable<Uint8Array> }
  | {
      read: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
      /** Removes texts embedded in an image or audio file when it is stored. */
      stripMetadata?: boolean;
    };

/** Output of a provider: files or a text, with optional JSON. */
export interface Made {
  files: ProviderFile[];
  text: string | null;
  json?: { value: unknown };
  /** The complete answer, for prices that read a value from it. */
  answer?: unknown;
}

export type PollState =
  | { state: "running"; progress?: number }
  | { state: "succeeded"; made: Made }
  | { state: "failed"; message: string }
  | { state: "cancelled" };

export interface CallOptions {
  inputs: Record<string, unknown>;
  /** Equal on every retry. Sent if the provider supports idempotency keys. */
  idempotencyKey: string;
  signal?: AbortSignal;
}

/** A provider that makes files: submit, then poll. */
export interface JobProvider {
  readonly type: "job";
  /** True if sending a submission twice with one key creates one job. */
  readonly idempotentSubmit: boolean;
  readonly intervalMs: number;
  readonly maxIntervalMs: number;
  /** Earliest time to poll a job after its submission. */
  readonly firstMs?: number | undefined;
  submit(options: CallOptions): Promise<Submission>;
  poll(submission: Submission, signal?: AbortSignal): Promise<PollState>;
  /** Finds the job of a submission whose answer was lost, if the provider supports it. */
  find?(idempotencyKey: string, signal?: AbortSignal): Promise<Submission | undefined>;
  /** Asks the provider to stop the job. False if it has no such request. */
  cancel(submission: Submission): Promise<boolean>;
}

export interface TextOptions extends CallOptions {
  /** Called with each piece if the provider streams. */
  onText?: (piece: string) => void;
  /** The response must be JSON that matches it. */
  schema?: JsonSchema | undefined;
  /** The previous answer and its problems. */
  repair?: { answer: string; problems: readonly string[] } | undefined;
}

export interface TextAnswer {
  /** Empty if the model only calls tools. */
  text: string;
  toolCalls?: ToolCall[];
  /** The token limit ended the answer. */
  isCut?: boolean;
  /** `isEstimated`: the provider didn't count them. */
  usage: { inputTokens: number; outputTokens: number; isEstimated?: boolean };
  requestId: string | null;
}

/** A provider that answers with text in one exchange. */
export interface TextProvider {
  readonly type: "text";
  run(options: TextOptions): Promise<TextAnswer>;
}

/** A provider that answers in one exchange, without a job to poll. */
export interface FilesProvider {
  readonly type: "files";
  /** `reserve` waits for free memory for an answer and keeps it until its files are stored. */
  run(options: CallOptions & { reserve: (bytes: number) => Promise<void> }): Promise<Made & { requestId: string | null }>;
}

export type Provider = JobProvider | TextProvider | FilesProvider;

export interface DialectContext {
  egress: EgressClient;
  /** Calls model servers in the operator's network. */
  ownServers?: OwnServers;
  /**
   * Secret of an entry for an address, or undefined if none is set. Read for every call.
   * @throws DomainError if it can't be read now
   */
  secret: (auth: NonNullable<ProviderSettings["auth"]>, url: string) => Promise<string | undefined> | string | undefined;
}
