/** What refusals of the moderation hook are for those who ask. */
import { DomainError } from "@nodeloom/kernel";
import type { ModerationRecord } from "../store/moderation";
import type { StepFailure } from "../run/calls";
import { HookAway } from "./hook";

export const CONTENT_REFUSED = "CONTENT_REFUSED";

type Said = Pick<ModerationRecord, "reason" | "message">;

const sentence = (what: string, { reason, message }: Said): string =>
  `${what} was refused${message === null ? "" : `: ${message}`}${reason === null ? "" : ` (${reason})`}`;

/** Of what a run is given: nothing of it begins. */
export const inputRefused = (said: Said): DomainError =>
  new DomainError(
    "precondition",
    CONTENT_REFUSED,
    sentence("what the run is given", said),
    said.reason === null ? {} : { reason: said.reason },
  );

/** Of what a call was about to be sent: it is not made, and free. */
export const promptRefused = (said: Said): DomainError => new DomainError("failed", CONTENT_REFUSED, sentence("its prompt", said));

/** Of what a call gave, which is charged. */
export const outputRefused = (record: ModerationRecord): DomainError => {
  const { costMicroUsd, requestId = null } = record;
  const refused: StepFailure = costMicroUsd === undefined ? {} : { refused: { costMicroUsd, requestId } };
  return new DomainError("failed", CONTENT_REFUSED, sentence("its output", record), { ...refused });
};

/** Seconds after which a client asks again. */
const AGAIN_SECONDS = 5;

const hookAway = (): DomainError =>
  new DomainError("unavailable", "SERVICE_UNAVAILABLE", "prompts can't be checked at the moment; nothing runs", {
    retryAfter: AGAIN_SECONDS,
    moderation: "away",
  });

/** Rethrows the error of a question. @throws SERVICE_UNAVAILABLE where the hook is away */
export const awayAsUnavailable = (error: unknown): never => {
  throw error instanceof HookAway ? hookAway() : error;
};
