import { type EgressClient, EgressError, type EgressStream, parseRetryAfter } from "@nodeloom/platform";
import { Webhook } from "standardwebhooks";
import { TIMING } from "../contract/timing";

/** What of an answer's body is read, and for how long: the status has said everything. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1_000;
const SECRET_PREFIX = "whsec_";
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** One signature per secret that is valid now, as Standard Webhooks has it. */
const sign = (secrets: readonly string[], id: string, at: Date, body: string): string =>
  secrets.map((secret) => new Webhook(secret.slice(SECRET_PREFIX.length)).sign(id, at, body)).join(" ");

const retryAfterMs = (header: string | undefined): number | null => {
  const ms = parseRetryAfter(header) ?? 0;
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
};

export interface Message {
  id: string;
  type: string;
  /** When that happened which the message tells of. */
  timestamp: Date;
  data: unknown;
}

/** How one attempt went. */
export interface Outcome {
  at: Date;
  delivered: boolean;
  /** Null when there was no answer. */
  status: number | null;
  /** Null when it was delivered. */
  error: string | null;
  durationMs: number;
  retryAfterMs: number | null;
}

export interface Target {
  url: string;
  secrets: readonly string[];
}

/** Takes the body out of the way, so that the connection can be used again. Whatever happens to it changes nothing. */
const drain = async (body: EgressStream["body"], stop: AbortController): Promise<void> => {
  const timer = setTimeout(() => stop.abort(new EgressError("TIMEOUT", "the rest of the answer was not waited for", true)), MAX_DRAIN_MS);
  try {
    for await (const _ of body);
  } catch {
    // Too long, too slow, or broken off: the receiver has answered.
  } finally {
    clearTimeout(timer);
  }
};

/** Signs a message and sends it once. Redirects are not followed: they are failures. */
export const createSend =
  (egress: EgressClient, timeoutMs: number = TIMING.webhookAttempt) =>
  async ({ url, secrets }: Target, { id, type, timestamp, data }: Message): Promise<Outcome> => {
    const at = new Date();
    const startedAt = performance.now();
    const durationMs = (): number => Math.round(performance.now() - startedAt);
    const body = JSON.stringify({ type, timestamp: timestamp.toISOString(), data });
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": sign(secrets, id, at, body),
    };
    const stop = new AbortController();
    try {
      const request = { url, method: "POST", headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal: stop.signal };
      const answer = await egress.stream(request);
      const answered = { at, status: answer.status, durationMs: durationMs() };
      await drain(answer.body, stop);
      if (answer.status >= 200 && answer.status < 300) return { ...answered, delivered: true, error: null, retryAfterMs: null };
      const asked = retryAfterMs(answer.headers["retry-after"]);
      return { ...answered, delivered: false, error: `the receiver answered ${answer.status}`, retryAfterMs: asked };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return { at, delivered: false, status: null, error: error.message, durationMs: durationMs(), retryAfterMs: null };
    }
  };
