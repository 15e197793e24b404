/** Requests each decision once, and stores it before it takes effect. */
import { createHash } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { type Logger, retry } from "@nodeloom/platform";
import { type Content, hashOf, partsOf } from "./content";
import { type Hook, type HookAnswer, HookUnavailable } from "./hook";
import type { StepFailure } from "../run/calls";
import type { ModerationRecord, ModerationStore } from "../record/moderation";

const WRITE_PAUSES_MS = [100, 500, 2_000];
const ID_CHARS = 40;

export interface Subject
  extends
    Pick<ModerationRecord, "userId" | "executionId" | "workflowSlug" | "kind" | "key" | "nodeId" | "model" | "digest">,
    Partial<Pick<ModerationRecord, "costMicroUsd" | "requestId">> {
  content: Content;
  /** Texts and addresses inside the content that later calls can receive separately. */
  inner?: readonly string[];
}

type Answer = Omit<HookAnswer, "decision"> & Pick<ModerationRecord, "decision">;

/** The id is deterministic for the same content of the same call. */
const idOf = ({ executionId, kind, key, digest }: Subject, part: number): string => {
  const identity = JSON.stringify([executionId, kind, key, digest, part]);
  return `mod_${createHash("sha256").update(identity).digest("hex").slice(0, ID_CHARS)}`;
};

export interface DecideOptions {
  hook: Hook;
  store: Pick<ModerationStore, "find" | "insert">;
  /** True if content passes when it can't be checked. */
  failsOpen: boolean;
  logger: Logger;
}

export type Decide = ReturnType<typeof createDecide>;

export const createDecide = ({ hook, store, failsOpen, logger }: DecideOptions) => {
  let policy: string | undefined;

  const ask = async (subject: Subject, id: string, content: Content, signal?: AbortSignal): Promise<Answer> => {
    const { kind, userId: accountId, executionId, workflowSlug: workflow, nodeId: node, model } = subject;
    try {
      const answer = await hook({ id, kind, accountId, executionId, workflow, node, model, ...content }, signal);
      policy = answer.policy ?? undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof HookUnavailable) || !failsOpen) throw error;
      logger.warn({ executionId, nodeId: node, kind, reason: error.why }, "the moderation hook is away: this passes unchecked");
      return { decision: "unchecked" };
    }
  };

  const decidePart = async (subject: Subject, content: Content, part: number, signal?: AbortSignal): Promise<ModerationRecord> => {
    const id = idOf(subject, part);
    const earlier = await store.find(id);
    if (earlier) return earlier;
    const { decision, reason = null, message = null, policy: by = null } = await ask(subject, id, content, signal);
    const { content: _, inner = [], ...about } = subject;
    const shownParts = [...content.texts, ...content.files.map(({ url }) => url), ...(part === 0 ? inner : [])];
    const counts = { texts: content.texts.length, files: content.files.length };
    const record: ModerationRecord = {
      _id: id,
      ...about,
      decision,
      reason,
      message,
      policy: by,
      ...counts,
      seen: [...new Set(shownParts.map(hashOf))],
      at: new Date(),
    };
    return retry(() => store.insert(record), { pausesMs: WRITE_PAUSES_MS });
  };

  return {
    /**
     * @returns the refusal; null if the content passes
     * @throws HookAway if the hook can't be asked and unchecked content doesn't pass
     */
    refusalOf: async (subject: Subject, signal?: AbortSignal): Promise<ModerationRecord | null> => {
      const parts = partsOf(subject.content);
      const decided = await Promise.all(parts.map((content, part) => decidePart(subject, content, part, signal)));
      return decided.find(({ decision }) => decision === "refuse") ?? null;
    },

    /** Policy in the hook's last answer; undefined before the first answer or if the answer names none. */
    policy: (): string | undefined => policy,
  };
};

export const CONTENT_REFUSED = "CONTENT_REFUSED";

type DecisionText = Pick<ModerationRecord, "reason" | "message">;

const sentence = (what: string, { reason, message }: DecisionText): string =>
  `${what} was refused${message === null ? "" : `: ${message}`}${reason === null ? "" : ` (${reason})`}`;

/** An input of the run was refused, so nothing starts. */
export const inputRefused = (verdict: DecisionText): DomainError =>
  new DomainError(
    "precondition",
    CONTENT_REFUSED,
    sentence("the input of the run", verdict),
    verdict.reason === null ? {} : { reason: verdict.reason },
  );

/** The input of a call was refused. The call isn't made and isn't charged. */
export const promptRefused = (verdict: DecisionText): DomainError =>
  new DomainError("failed", CONTENT_REFUSED, sentence("its prompt", verdict));

/** The output of a call was refused. The call is still charged. */
export const outputRefused = (record: ModerationRecord): DomainError => {
  const { costMicroUsd, requestId = null } = record;
  const failure: StepFailure = costMicroUsd === undefined ? {} : { refused: { costMicroUsd, requestId } };
  return new DomainError("failed", CONTENT_REFUSED, sentence("its output", record), { ...failure });
};

/** Seconds after which a client can retry. */
const AGAIN_SECONDS = 5;

const hookOutage = (): DomainError =>
  new DomainError(
    "unavailable",
    "SERVICE_UNAVAILABLE",
    "moderation is unavailable, so the prompts can't be checked. Nothing runs: retry later",
    {
      retryAfter: AGAIN_SECONDS,
      moderation: "away",
    },
  );

/** @throws SERVICE_UNAVAILABLE if the hook is unavailable */
export const hookOutageAsError = (error: unknown): never => {
  throw error instanceof HookUnavailable ? hookOutage() : error;
};
