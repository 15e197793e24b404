import type { JsonSchema } from "@nodeloom/kernel";
import type { EgressClient, OwnServers } from "@nodeloom/platform";
import type { ProviderSettings } from "./entries/settings";
import type { ToolCall } from "./tools";

/** Interface of a dialect, its input, and provider errors. */

/** A failed call to a provider. `kind` decides how the run handles it. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    /**
     * `refused`: the provider returned an error status. `failed`: the job ended with an error. `incomplete`: the job ended without the
     * expected output. `unreachable`: nothing was sent. `ambiguous`: the provider may have received the request. `unavailable`: the
     * provider wasn't called, because it is down or too many calls are running.
     */
    readonly kind: "refused" | "failed" | "incomplete" | "unreachable" | "ambiguous" | "unavailable",
    message: string,
    readonly status?: number,
    readonly body?: string,
    /** Milliseconds to wait before the next call, if known (Retry-After). */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** True for a temporary failure of a call that can safely be repeated. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ProviderError &&
  (error.kind === "unreachable" || error.kind === "ambiguous" || error.status === 429 || (error.status ?? 0) >= 500);

export interface Submission {
  requestId: string;
  /** URLs for polling, if the provider's response contains them. Plain JSON. */
  handle?: Record<string, string>;
}

/** A file in a provider's response: a URL, a stream of bytes that can be read once, or bytes that can be read repeatedly. */
export type ProviderFile =
  | { url: string }
  | { bytes: AsyncIterable<Uint8Array> }
  | {
      read: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
      /** True to remove texts embedded in an image or audio file when it is stored. */
      stripMetadata?: boolean;
    };

/** Output of a provider: files, or a text with optional JSON. */
export interface ProviderOutput {
  files: ProviderFile[];
  text: string | null;
  json?: { value: unknown };
  /** The complete response, for prices that read a value from it. */
  answer?: unknown;
}

export type PollState =
  | { state: "running"; progress?: number }
  | { state: "succeeded"; output: ProviderOutput }
  | { state: "failed"; message: string }
  | { state: "cancelled" };

/** A job's progress while it runs. */
export interface JobProgress {
  /** Completed percent of the job's current step, 0 to 100. */
  percent?: number;
  /** A picture of the unfinished output. */
  image?: { contentType: "image/jpeg" | "image/png"; bytes: Buffer };
}

export interface WatchOptions {
  submission: Submission;
  /** The key of the submission. */
  idempotencyKey: string;
  /** Called with what has changed. */
  onProgress: (progress: JobProgress) => void;
  /** Ends the watching. */
  signal: AbortSignal;
}

export interface CallOptions {
  inputs: Record<string, unknown>;
  /** Equal on every retry. It is sent if the provider supports idempotency keys. */
  idempotencyKey: string;
  signal?: AbortSignal;
}

/** A provider that generates files: submit a job, then poll it. */
export interface JobProvider {
  readonly type: "job";
  /** True if two submissions with one key create one job. */
  readonly idempotentSubmit: boolean;
  readonly intervalMs: number;
  readonly maxIntervalMs: number;
  /** Milliseconds after the submission before the first poll. */
  readonly firstMs?: number | undefined;
  submit(options: CallOptions): Promise<Submission>;
  poll(submission: Submission, signal?: AbortSignal): Promise<PollState>;
  /** Reports a job's progress until the signal is aborted, if the provider streams it. A broken connection ends it; polls go on. */
  watch?(options: WatchOptions): Promise<void>;
  /** Finds the job of a submission whose response was lost, if the provider supports it. */
  find?(idempotencyKey: string, signal?: AbortSignal): Promise<Submission | undefined>;
  /** Requests that the provider stop the job. Returns false if the provider doesn't support this. */
  cancel(submission: Submission): Promise<boolean>;
}

export interface TextOptions extends CallOptions {
  /** Called with each piece of the text, if the provider streams. */
  onText?: (piece: string) => void;
  /** Schema that the JSON response must match. */
  schema?: JsonSchema | undefined;
  /** The previous answer and its problems. */
  repair?: { answer: string; problems: readonly string[] } | undefined;
}

export interface TextAnswer {
  /** The text; empty if the model only calls tools. */
  text: string;
  toolCalls?: ToolCall[];
  /** True if the token limit ended the answer. */
  isCut?: boolean;
  /** Token counts. `isEstimated` is true if the provider didn't report them. */
  usage: { inputTokens: number; outputTokens: number; isEstimated?: boolean };
  requestId: string | null;
}

/** A provider that returns text in a single exchange. */
export interface TextProvider {
  readonly type: "text";
  run(options: TextOptions): Promise<TextAnswer>;
}

/** A provider that returns files in a single exchange, without a job to poll. */
export interface FilesProvider {
  readonly type: "files";
  /** Calls the provider. `reserve` waits for free memory for the response and keeps it until the files are stored. */
  run(options: CallOptions & { reserve: (bytes: number) => Promise<void> }): Promise<ProviderOutput & { requestId: string | null }>;
}

export type Provider = JobProvider | TextProvider | FilesProvider;

export interface DialectContext {
  egress: EgressClient;
  /** Clients for model servers in the operator's network. */
  ownServers?: OwnServers;
  /**
   * Returns an entry's secret for a URL, or undefined if none is set. It is read for every call.
   * @throws DomainError if it can't be read now
   */
  secret: (auth: NonNullable<ProviderSettings["auth"]>, url: string) => Promise<string | undefined> | string | undefined;
}
