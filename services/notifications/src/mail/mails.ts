/** mail/: emails to people. A Temporal workflow delivers each. */
import type { Notice } from "@nodeloom/kernel";
import type { MailKind } from "../store/mails";

/**
 * The subject of an email, by reference if possible. Tokens of links are created when it is sent. An invitation's link comes from its
 * caller and is stored encrypted if the installation has keys.
 */
export type Mail =
  | { kind: "passwordReset"; email: string }
  | { kind: "verification"; userId: string }
  | { kind: "invitation"; userId: string; to: string; organizationName: string; inviterName: string; link: string }
  | { kind: "approval"; userId: string }
  | ({ kind: "lowCredits"; remaining: number; monthly: number } & OfAccount)
  | ({ kind: "budgetAlert"; alert: AlertFacts } & OfAccount)
  | ({ kind: "modelRetiring"; retiring: RetiringFacts } & OfAccount)
  | ({ kind: "endpointDisabled"; endpointUrl: string } & OfAccount)
  | ({ kind: "organizationLeaving" | "organizationKept" } & DecisionFacts & OfAccount);

/** For emails about an account: the recipient, and the organization of the account; absent if it is the reader's own. */
export interface OfAccount {
  userId: string;
  organization?: { id: string; name: string } | undefined;
}

/** Facts about an organization that is or was scheduled for deletion. */
export interface DecisionFacts {
  /** Name or address of the person who decided. */
  personName: string;
  /** ISO 8601. */
  erasesAt: string;
}

/** Facts of a budget alert. Amounts are credits. */
export interface AlertFacts {
  scope: "key" | "workflow" | "metadata";
  /** A key's ID, a workflow's slug, or `name = value`. */
  subject: string;
  percent: number;
  credits: number;
  used: number;
  window: "day" | "week" | "month" | "total";
  /** ISO 8601; null if the budget never resets. */
  resetsAt: string | null;
}

/** A model that a provider shuts down, and workflows of the account that name it. */
export interface RetiringFacts {
  model: string;
  /** YYYY-MM-DD. */
  retiresOn: string;
  /** Null if no model replaces it. */
  successor: string | null;
  /** Names; `workflowCount` counts those that aren't listed, too. */
  workflows: string[];
  workflowCount: number;
}

/** Notices are sent only to verified addresses and can be turned off. */
export const NOTICE_OF: Readonly<Partial<Record<MailKind, Notice>>> = {
  lowCredits: "lowCredits",
  budgetAlert: "budgetAlerts",
  modelRetiring: "retiringModels",
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Every bound and wait of emails. Milliseconds unless stated otherwise. */
export const MAIL_LIMITS = {
  /** Equal requests within this time send one email: a button pressed twice. */
  sameWithin: 5 * MINUTE,
  /** Emails per day to one account, or to one address that requests resets. Resets don't count as notices. */
  perDay: {
    passwordReset: 10,
    verification: 10,
    invitation: 50,
    approval: 20,
    lowCredits: 20,
    budgetAlert: 20,
    ...{ organizationLeaving: 20, organizationKept: 20, modelRetiring: 20, endpointDisabled: 20 },
  },
  /** Pauses after temporary failures: they double from the first to the longest. */
  firstPause: 30 * SECOND,
  longestPause: 2 * HOUR,
  /** How long sending is retried. A person who misses a link requests another. */
  triedFor: {
    ...{ passwordReset: HOUR, verification: DAY, invitation: 3 * DAY, approval: 3 * DAY, lowCredits: 3 * DAY, budgetAlert: 3 * DAY },
    ...{ organizationLeaving: 3 * DAY, organizationKept: 3 * DAY, modelRetiring: 3 * DAY, endpointDisabled: 3 * DAY },
  },
  connections: 4,
  /** Emails that wait for a connection, per process. */
  waiting: 200,
  waitForConnection: 20 * SECOND,
  connect: 10 * SECOND,
  /** Silence of the mail server at any later step. */
  silence: 40 * SECOND,
  nameChars: 100,
} as const satisfies Record<string, number | Readonly<Record<MailKind, number>>>;

export const DAY_SECONDS = DAY / SECOND;

/**
 * Pause after a failed attempt; null if the email is given up.
 * @param attempt from 1
 */
export const pauseAfter = (kind: MailKind, attempt: number, ageMs: number): number | null => {
  const pauseMs = Math.min(MAIL_LIMITS.firstPause * 2 ** (attempt - 1), MAIL_LIMITS.longestPause);
  return ageMs + pauseMs > MAIL_LIMITS.triedFor[kind] ? null : pauseMs;
};
