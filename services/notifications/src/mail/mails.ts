/** Emails to people. A Temporal workflow delivers each email. */
import type { Notice } from "@nodeloom/kernel";
import type { MailKind } from "../store/mails";

/**
 * Data of an email, with ids instead of values if possible. Tokens of links are created when the email is sent. An invitation's link comes
 * from its caller and is stored encrypted if the installation has keys.
 */
export type Mail =
  | { kind: "passwordReset"; email: string }
  | { kind: "verification"; userId: string }
  | { kind: "invitation"; userId: string; to: string; organizationName: string; inviterName: string; link: string }
  | { kind: "approval"; userId: string }
  | ({ kind: "decisionRequest" } & DecisionRequest)
  | ({ kind: "lowCredits"; remaining: number; monthly: number } & OfAccount)
  | ({ kind: "budgetAlert"; alert: AlertFacts } & OfAccount)
  | ({ kind: "modelRetiring"; retiring: RetiringFacts } & OfAccount)
  | ({ kind: "endpointDisabled"; endpointUrl: string } & OfAccount)
  | ({ kind: "organizationLeaving" | "organizationKept" } & DecisionFacts & OfAccount);

/** A waiting node of a run, and an approver of it. `personId` is empty if the address belongs to no member of the account. */
export interface DecisionRequest {
  ownerId: string;
  executionId: string;
  nodeId: string;
  address: string;
  personId: string;
}

/** Data of emails about an account: the recipient, and the organization of the account; absent for the reader's own account. */
export interface OfAccount {
  userId: string;
  organization?: { id: string; name: string } | undefined;
}

/** Facts about an organization that is or was scheduled for deletion. */
export interface DecisionFacts {
  /** Name or address of the person who decided. */
  personName: string;
  /** Time in ISO 8601. */
  erasesAt: string;
}

/** Facts of a budget alert. Amounts are in credits. */
export interface AlertFacts {
  scope: "key" | "workflow" | "metadata";
  /** Id of a key, slug of a workflow, or `name = value`. */
  subject: string;
  percent: number;
  credits: number;
  used: number;
  window: "day" | "week" | "month" | "total";
  /** Time in ISO 8601; null if the budget never resets. */
  resetsAt: string | null;
}

/** A model that a provider will shut down, and the account's workflows that use it. */
export interface RetiringFacts {
  model: string;
  /** Date in the form YYYY-MM-DD. */
  retiresOn: string;
  /** Null if no model replaces it. */
  successor: string | null;
  /** Names of workflows. `workflowCount` also counts workflows that aren't listed. */
  workflows: string[];
  workflowCount: number;
}

/** Kinds of emails that are notices. Notices are sent only to verified addresses and can be turned off. */
export const NOTICE_OF: Readonly<Partial<Record<MailKind, Notice>>> = {
  lowCredits: "lowCredits",
  budgetAlert: "budgetAlerts",
  modelRetiring: "retiringModels",
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** All limits and times of emails. In milliseconds unless stated otherwise. */
export const MAIL_LIMITS = {
  /** Equal requests within this time send one email, for example if a button is pressed twice. */
  sameWithin: 5 * MINUTE,
  /** Maximum emails per day to one account, or to one address that requests password resets. Resets don't count as notices. */
  perDay: {
    passwordReset: 10,
    verification: 10,
    invitation: 50,
    approval: 20,
    lowCredits: 20,
    budgetAlert: 20,
    ...{ organizationLeaving: 20, organizationKept: 20, modelRetiring: 20, endpointDisabled: 20 },
    decisionRequest: 100,
  },
  /** Maximum requests for decisions per day of one account, to all its approvers. */
  decisionRequestsOfAccount: 1_000,
  /** Pauses after temporary failures. They double from the first to the longest. */
  firstPause: 30 * SECOND,
  longestPause: 2 * HOUR,
  /** How long sending is retried. A person who doesn't get a link can request another. */
  triedFor: {
    ...{ passwordReset: HOUR, verification: DAY, invitation: 3 * DAY, approval: 3 * DAY, lowCredits: 3 * DAY, budgetAlert: 3 * DAY },
    ...{ organizationLeaving: 3 * DAY, organizationKept: 3 * DAY, modelRetiring: 3 * DAY, endpointDisabled: 3 * DAY },
    decisionRequest: 3 * DAY,
  },
  connections: 4,
  /** Maximum emails that wait for a connection, per process. */
  waiting: 200,
  waitForConnection: 20 * SECOND,
  connect: 10 * SECOND,
  /** Maximum silence of the mail server at any later step. */
  silence: 40 * SECOND,
  nameChars: 100,
} as const satisfies Record<string, number | Readonly<Record<MailKind, number>>>;

export const DAY_SECONDS = DAY / SECOND;

/**
 * Returns the pause after a failed attempt; null if the email is abandoned.
 * @param attempt number of the attempt, starting at 1
 */
export const pauseAfter = (kind: MailKind, attempt: number, ageMs: number): number | null => {
  const pauseMs = Math.min(MAIL_LIMITS.firstPause * 2 ** (attempt - 1), MAIL_LIMITS.longestPause);
  return ageMs + pauseMs > MAIL_LIMITS.triedFor[kind] ? null : pauseMs;
};
