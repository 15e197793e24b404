/** mail/: mails to people, each delivered by a workflow of its own. */
import type { Notice } from "@nodeloom/kernel";
import type { MailKind } from "../store/mails";

/**
 * A mail before it is written: what it is about, by reference where that is possible. Tokens of links are made when a mail is sent;
 * the link of an invitation is its caller's, and kept encrypted where the installation has keys for that.
 */
export type Mail =
  | { kind: "passwordReset"; email: string }
  | { kind: "verification"; userId: string }
  | { kind: "invitation"; userId: string; to: string; organizationName: string; inviterName: string; link: string }
  | { kind: "approval"; userId: string }
  | ({ kind: "lowCredits"; remaining: number; monthly: number } & OfAccount)
  | ({ kind: "budgetAlert"; alert: AlertFacts } & OfAccount)
  | ({ kind: "organizationLeaving" | "organizationKept" } & DecisionFacts & OfAccount);

/** Of a mail about an account: whom it goes to, and which organization's account it is; absent: the reader's own. */
export interface OfAccount {
  userId: string;
  organization?: { id: string; name: string } | undefined;
}

/** What a mail says of an organization that is, or was, to be deleted. */
export interface DecisionFacts {
  /** Who decided: a name or an address. */
  personName: string;
  /** ISO. */
  erasesAt: string;
}

/** What a budget's alert says. Amounts are credits. */
export interface AlertFacts {
  scope: "key" | "workflow" | "metadata";
  /** A key's id, a workflow's slug, or `name = value`. */
  subject: string;
  percent: number;
  credits: number;
  used: number;
  window: "day" | "week" | "month" | "total";
  /** ISO; null where the budget never begins anew. */
  resetsAt: string | null;
}

/** Notices go to verified addresses alone, and can be switched off. */
export const NOTICE_OF: Readonly<Partial<Record<MailKind, Notice>>> = { lowCredits: "lowCredits", budgetAlert: "budgetAlerts" };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Every bound and wait of mails, in one place. Milliseconds where nothing else is said. */
export const MAIL_LIMITS = {
  /** Mails that are wanted again within this are one: of a button that is pressed twice. */
  sameWithin: 5 * MINUTE,
  /** Mails to one account, or to one address that asks for resets, in a day. Resets don't count against notices. */
  perDay: {
    passwordReset: 10,
    verification: 10,
    invitation: 50,
    approval: 20,
    lowCredits: 20,
    budgetAlert: 20,
    ...{ organizationLeaving: 20, organizationKept: 20 },
  },
  /** Pauses after failures that may pass: they double from the first to the longest. */
  firstPause: 30 * SECOND,
  longestPause: 2 * HOUR,
  /** How long a mail is tried. Who wanted a link and did not get it asks again. */
  triedFor: {
    ...{ passwordReset: HOUR, verification: DAY, invitation: 3 * DAY, approval: 3 * DAY, lowCredits: 3 * DAY, budgetAlert: 3 * DAY },
    ...{ organizationLeaving: 3 * DAY, organizationKept: 3 * DAY },
  },
  connections: 4,
  /** Mails that wait for a connection of one process. */
  waiting: 200,
  waitForConnection: 20 * SECOND,
  connect: 10 * SECOND,
  /** Silence of the mail server at any step after that. */
  silence: 40 * SECOND,
  nameChars: 100,
} as const satisfies Record<string, number | Readonly<Record<MailKind, number>>>;

export const DAY_SECONDS = DAY / SECOND;

/** The pause after a failed attempt; null where the mail is given up. @param attempt from 1 */
export const pauseAfter = (kind: MailKind, attempt: number, ageMs: number): number | null => {
  const pauseMs = Math.min(MAIL_LIMITS.firstPause * 2 ** (attempt - 1), MAIL_LIMITS.longestPause);
  return ageMs + pauseMs > MAIL_LIMITS.triedFor[kind] ? null : pauseMs;
};
