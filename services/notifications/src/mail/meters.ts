import { durationHistogram, eventCounter } from "@nodeloom/platform";
import type { MailEnd, MailKind } from "../store/mails";

/** Metrics of emails: by kind and outcome, never by recipient. */

const ends = eventCounter("nodeloom.mails", "mails that ended, by kind and outcome");
const ages = durationHistogram("nodeloom.mail.age", "from when a mail was wanted to when the mail server had taken it, by kind");
const attempts = durationHistogram("nodeloom.mail.attempt.duration", "attempts at mails, by outcome");

export const countMail = (kind: MailKind, outcome: MailEnd): void => ends({ kind, outcome });
export const noteMailAge = (kind: MailKind, ageMs: number): void => ages(ageMs, { kind });
export const countMailAttempt = (outcome: "sent" | "refused" | "failed", durationMs: number): void => attempts(durationMs, { outcome });
