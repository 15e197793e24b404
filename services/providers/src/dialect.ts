import type { JsonSchema } from "@nodeloom/kernel";
import type { EgressClient, OwnServers } from "@nodeloom/platform";
import type { ProviderSettings } from "./entries/settings";
import type { ToolCall } from "./chat/tools";

/** What a dialect is: what it is given, what it offers, and the error of a provider. */

/** A call of a provider that went wrong. `kind` decides what the run does about it. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(
    /**
     * refused: the provider answered with an error status; failed: the job ended in an error; incomplete: it ended
     * without the expected output; unreachable: nothing was sent; ambiguous: it may have been received; unavailable: it
     * was not called, because it is away or has too many calls of ours.
     */
    readonly kind: "refused" | "failed" | "incomplete" | "unreachable" | "ambiguous" | "unavailable",
    message: string,
    readonly status?: number,
    readonly body?: string,
    /** How long to wait before it is called again, where that is known (Retry-After), in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Whether a failure may pass, of a call that does no harm when it is made again. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ProviderError &&
  (error.kind === "unreachable" || error.kind === "ambiguous" || error.status === 429 || (error.status ?? 0) >= 500);

export interface Submission {
  requestId: string;
  /** Where to ask, for providers that say so in their answer. Plain JSON. */
  handle?: Record<string, string>;
}

/** A file a provider answered with: where it can be fetched, its bytes as they arrive, once, or its bytes as often as needed. */
export type ProviderFile =
  | { url: string }
  | { bytes: AsyncIterable<Uint8Array> }
  | {
      read: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
      /** Whether texts beside its picture or sound are taken out when it is stored. */
      stripMetadata?: boolean;
    };

/** What a provider made: files or a text, with JSON beside it. */
export interface Made {
  files: ProviderFile[];
  text: string | null;
  json?: { value: unknown };
  /** All of its answer: prices may ask what it cost. */
  answer?: unknown;
}

export type PollState =
  | { state: "running"; progress?: number }
  | { state: "succeeded"; made: Made }
  | { state: "failed"; message: string }
  | { state: "cancelled" };

export interface CallOptions {
  inputs: Record<string, unknown>;
  /** Stable over retries; sent where the provider understands idempotency keys. */
  idempotencyKey: string;
  signal?: AbortSignal;
}

/** A provider that makes files: submit, then poll. */
export interface JobProvider {
  readonly type: "job";
  /** Whether sending a submission twice with one key makes one job. */
  readonly idempotentSubmit: boolean;
  readonly intervalMs: number;
  readonly maxIntervalMs: number;
  /** How long after its submission a job is asked for, at the soonest. */
  readonly firstMs?: number | undefined;
  submit(options: CallOptions): Promise<Submission>;
  poll(submission: Submission, signal?: AbortSignal): Promise<PollState>;
  /** Looks for the job of a submission whose answer was lost, where the provider can be asked for that. */
  find?(idempotencyKey: string, signal?: AbortSignal): Promise<Submission | undefined>;
  /** Tells the provider to stop. False when it can't be told. */
  cancel(submission: Submission): Promise<boolean>;
}

export interface TextOptions extends CallOptions {
  /** Hears of each piece as it arrives, where the provider streams. */
  onText?: (piece: string) => void;
  /** The answer is to be JSON that fits it. */
  schema?: JsonSchema | undefined;
  /** What was answered before, and what is wrong with it. */
  repair?: { answer: string; problems: readonly string[] } | undefined;
}

export interface TextAnswer {
  /** Empty where the model calls tools and says nothing. */
  text: string;
  /** Tools that it calls. */
  toolCalls?: ToolCall[];
  /** It ends where the most tokens of an answer were reached. */
  isCut?: boolean;
  /** `isEstimated`: the provider did not count them. */
  usage: { inputTokens: number; outputTokens: number; isEstimated?: boolean };
  requestId: string | null;
}

/** A provider that answers with text in one exchange. */
export interface TextProvider {
  readonly type: "text";
  run(options: TextOptions): Promise<TextAnswer>;
}

/** A provider that answers with what it made in one exchange: nothing can be asked of it before or after. */
export interface FilesProvider {
  readonly type: "files";
  /** `reserve` waits for room in memory for an answer, which is taken until its files are stored. */
  run(options: CallOptions & { reserve: (bytes: number) => Promise<void> }): Promise<Made & { requestId: string | null }>;
}

export type Provider = JobProvider | TextProvider | FilesProvider;

export interface DialectContext {
  egress: EgressClient;
  /** Calls servers of the installation's own. */
  ownServers?: OwnServers;
  /**
   * The key that an entry names, for an address; undefined when there is none for it. It is asked for at every call.
   * @throws DomainError where it can't be read now
   */
  secret: (auth: NonNullable<ProviderSettings["auth"]>, url: string) => Promise<string | undefined> | string | undefined;
}
