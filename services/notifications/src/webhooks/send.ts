/** Signs and sends one message. */
import { type EgressClient, EgressError, type EgressProblem, type EgressStream, parseRetryAfter, signedHeaders } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { TIMING } from "../timing";
import type { SentAttempt } from "../delivery";

/** Limit for reading a response body, because the status is enough. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

const retryAfterMs = (header: string | undefined): number | null => {
  const ms = parseRetryAfter(header) ?? 0;
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
};

export interface Message {
  id: string;
  type: string;
  /** Time of the reported event. */
  timestamp: Date;
  data: unknown;
  /** True if the data is the whole body, without an envelope. */
  isBare?: boolean;
}

/** Reads and drops the body, so that the connection can be reused. Errors have no effect. */
const drain = async (body: EgressStream["body"], stop: AbortController): Promise<void> => {
  const timer = setTimeout(() => stop.abort(new EgressError("TIMEOUT", "the rest of the answer was not waited for", true)), MAX_DRAIN_MS);
  try {
    for await (const _ of body);
  } catch {
    // The body is too long, too slow or incomplete, but the receiver has already answered.
  } finally {
    clearTimeout(timer);
  }
};

/** Messages for kinds of errors. The original texts would reveal the network behind an address. */
const PROBLEMS: Readonly<Record<EgressProblem, string>> = {
  REFUSED: "refused",
  TIMEOUT: "timeout",
  UNREACHABLE: "no answer",
  TOO_LARGE: "too large",
  TOO_MANY_REDIRECTS: "too many redirects",
};

type Outcome = Omit<SentAttempt, "url" | "revision">;

/** Signs a message and sends it once. A redirect counts as a failure. */
export const createSend =
  (egress: EgressClient, timeoutMs: number = TIMING.webhookAttempt) =>
  async (
    { url, secrets }: Pick<identity.GetWebhookTargetResponse, "url" | "secrets">,
    { id, type, timestamp, data, isBare = false }: Message,
  ): Promise<Outcome> => {
    const at = new Date();
    const startedAt = performance.now();
    const body = JSON.stringify(isBare ? data : { type, timestamp: timestamp.toISOString(), data });
    const headers = signedHeaders(secrets, id, at, body);
    const outcome = (status: number | null, error: string | null): Outcome => {
      const durationMs = Math.round(performance.now() - startedAt);
      return { at: at.getTime(), status, error, durationMs, retryAfterMs: null };
    };
    const stop = new AbortController();
    try {
      const request = { url, method: "POST", headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal: stop.signal };
      const { status, headers: answered, body: rest } = await egress.stream(request);
      const isDelivered = status >= 200 && status < 300;
      const result = outcome(status, isDelivered ? null : `status ${status}`);
      await drain(rest, stop);
      return isDelivered ? result : { ...result, retryAfterMs: retryAfterMs(answered["retry-after"]) };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return outcome(null, PROBLEMS[error.code]);
    }
  };
