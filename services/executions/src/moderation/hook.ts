import { EgressError, NoSlot, retry, type EgressClient, type Slots } from "@nodeloom/platform";
import { z } from "zod";
import { countModeration } from "../meters";
import type { ModerationKind } from "../record/moderation";
import { signedHeaders } from "@nodeloom/platform";
import type { Content } from "./content";

/** Limits of one process: questions in flight, and questions that wait. Users take turns. */
export const QUESTIONS = { concurrency: 32, queueLimit: 2_000 };
const MAX_ANSWER_BYTES = 64 * 1024;
const PAUSES_MS = [100, 300, 900, 2_000];
/** One attempt gets at most this share of the timeout, so that a hanging attempt can be retried. */
const ATTEMPT_SHARE = 0.5;
/** After a failure, an unavailable hook isn't asked again for this share of the timeout. */
const LEFT_ALONE_SHARE = 0.4;
const AGAIN: ReadonlySet<number> = new Set([408, 425, 429]);
const SERVER_ERROR = 500;

/** JSON body of a question. */
export interface Question extends Content {
  /** Equal in every repetition of the question. */
  id: string;
  kind: ModerationKind;
  accountId: string;
  executionId: string;
  /** Slug of the workflow; null for a direct run of a model. */
  workflow: string | null;
  /** Id of the node; null for the check before a run, which covers all nodes. */
  node: string | null;
  model: string | null;
}

const CODE = /^[\w.:/-]{1,64}$/;
const MAX_MESSAGE_CHARS = 300;
const MAX_POLICY_CHARS = 100;

const answerForm = z.object({
  decision: z.enum(["allow", "refuse"]),
  reason: z.string().regex(CODE).nullish(),
  message: z.string().max(MAX_MESSAGE_CHARS).nullish(),
  policy: z.string().max(MAX_POLICY_CHARS).nullish(),
});
export type HookAnswer = z.infer<typeof answerForm>;

/** Thrown if the hook didn't answer before the deadline, or its answer is unreadable. */
export class HookUnavailable extends Error {
  override readonly name = "HookAway";
  constructor(
    readonly why: string,
    readonly mayPass = true,
  ) {
    super(`the moderation hook ${why}`);
  }
}

const readAnswer = (body: Buffer): HookAnswer => {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new HookUnavailable("the answer isn't JSON");
  }
  const parsed = answerForm.safeParse(value);
  if (!parsed.success) throw new HookUnavailable(`the answer isn't a decision (${parsed.error.issues[0]?.path.join(".") ?? ""})`);
  return parsed.data;
};

export interface HookOptions {
  url: string;
  /** Secrets in the form `whsec_…`. The request contains one signature for each. */
  secrets: readonly string[];
  timeoutMs: number;
  egress: Pick<EgressClient, "request">;
  /** Signs the addresses in a text, so that the hook can read an account's files. */
  signed?: (text: string, accountId: string) => Promise<string>;
  slots: Slots;
}

export type Hook = ReturnType<typeof createHook>;

/** Asks the hook. Requests are signed according to Standard Webhooks and retried within the timeout. */
export const createHook = ({ url, secrets, timeoutMs, egress, signed, slots }: HookOptions) => {
  let leftAloneUntil = 0;

  const attempt = async (id: string, body: string, leftMs: number, signal?: AbortSignal): Promise<HookAnswer> => {
    const headers = signedHeaders(secrets, id, new Date(), body);
    const timing = { timeoutMs: Math.max(1, Math.min(leftMs, timeoutMs * ATTEMPT_SHARE)), maxBytes: MAX_ANSWER_BYTES };
    const request = { url, method: "POST", headers, body, ...timing, ...(signal ? { signal } : {}) };
    const { status, body: answer } = await egress.request(request).catch((error: unknown) => {
      throw error instanceof EgressError ? new HookUnavailable(`could not be asked: ${error.message}`) : error;
    });
    if (status < 200 || status >= 300) throw new HookUnavailable(`answered ${status}`, status >= SERVER_ERROR || AGAIN.has(status));
    return readAnswer(answer);
  };

  const askInTime = async (question: Question, signal?: AbortSignal): Promise<HookAnswer> => {
    const until = Date.now() + timeoutMs;
    const plain = JSON.stringify(question);
    const body = signed ? await signed(plain, question.accountId) : plain;
    return retry(() => attempt(question.id, body, until - Date.now(), signal), {
      pausesMs: PAUSES_MS,
      shouldRetry: (error) => error instanceof HookUnavailable && error.mayPass,
      until,
      signal,
    });
  };

  /** @throws HookAway; the signal's reason if the signal aborts */
  return async (question: Question, signal?: AbortSignal): Promise<HookAnswer> => {
    if (Date.now() < leftAloneUntil) throw new HookUnavailable("was away a moment ago");
    const startedAt = performance.now();
    const count = (outcome: string): void => countModeration(question.kind, outcome, performance.now() - startedAt);
    try {
      const waiting = { key: question.accountId, maxWaitMs: timeoutMs, ...(signal ? { signal } : {}) };
      const answer = await slots.use(() => askInTime(question, signal), waiting);
      leftAloneUntil = 0;
      count(answer.decision === "allow" ? "allowed" : "refused");
      return answer;
    } catch (error) {
      if (error instanceof NoSlot) throw new HookUnavailable("is asked too much at once");
      if (!(error instanceof HookUnavailable)) throw error;
      leftAloneUntil = Date.now() + timeoutMs * LEFT_ALONE_SHARE;
      count("away");
      throw error;
    }
  };
};
