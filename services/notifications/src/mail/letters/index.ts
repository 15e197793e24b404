import { MAIL_LIMITS, type AlertFacts, type DecisionFacts, type RetiringFacts } from "../mails";
import { nameIn, type Letter } from "./letter";

/** One function per kind of email. Its parameters are its placeholders. */

const name = (given: string): string => nameIn(given, MAIL_LIMITS.nameChars);
const NOT_YOURS = "If you did not ask for this, do nothing: nothing changes.";

export const passwordResetLetter = ({ url }: { url: string }): Letter => ({
  subject: "Set a new password",
  paragraphs: ["Somebody, most likely you, asked for a new password for the account of this address."],
  action: { label: "Set a new password", url },
  notes: [
    "The link works once, for an hour. All devices that are signed in are signed out then. Signing in goes on to take a code where the account has a second factor.",
    NOT_YOURS,
  ],
});

export const verificationLetter = ({ url }: { url: string }): Letter => ({
  subject: "Confirm your e-mail address",
  paragraphs: [
    "An account was made with this address. Confirm that the address is yours to get notices, and so that nobody else can use it.",
  ],
  action: { label: "Confirm this address", url },
  notes: [
    "The link works for a day, in a browser where you are signed in to that account.",
    "If you did not make an account, do nothing, and don't sign in to confirm: without that the address stays unconfirmed.",
  ],
});

export const invitationLetter = (given: { url: string; organizationName: string; inviterName: string }): Letter => {
  const [organization, inviter] = [name(given.organizationName), name(given.inviterName)];
  return {
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter} invites you to the organization “${organization}”: its workflows, keys and credits would be yours to use, as far as your role there goes.`,
    ],
    action: { label: "See the invitation", url: given.url },
    notes: ["The link is for you alone. If you don't know who invites you, do nothing."],
  };
};

export const approvalLetter = ({ url }: { url: string }): Letter => ({
  subject: "Your account is approved",
  paragraphs: ["An administrator has approved your account: you can run workflows now."],
  action: { label: "Open the console", url },
  notes: [],
});

const whenIn = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

interface DecisionPlaceholders extends DecisionFacts {
  url: string;
  organizationName: string;
}

export const organizationLeavingLetter = ({ url, erasesAt, ...given }: DecisionPlaceholders): Letter => {
  const [organization, person] = [name(given.organizationName), name(given.personName)];
  return {
    subject: `${organization} is to be deleted`,
    paragraphs: [
      `${person} asked for the organization “${organization}” to be deleted. Nothing runs for it from now on.`,
      `On ${whenIn(erasesAt)} its workflows, files, runs, keys, secrets and the credits that are left go for good.`,
    ],
    action: { label: "See the organization", url },
    notes: ["You get this as an owner. Until then every owner can keep it there, whoever asked."],
  };
};

export const organizationKeptLetter = ({ url, erasesAt, ...given }: DecisionPlaceholders): Letter => {
  const [organization, person] = [name(given.organizationName), name(given.personName)];
  return {
    subject: `${organization} stays`,
    paragraphs: [
      `${person} keeps the organization “${organization}”, which was to be deleted on ${whenIn(erasesAt)}.`,
      "Its schedules and hooks go on; runs that were cancelled stay so.",
    ],
    action: { label: "See the organization", url },
    notes: ["You get this as an owner."],
  };
};

export const endpointDisabledLetter = (given: { url: string; endpointUrl: string; organizationName?: string | undefined }): Letter => ({
  subject: `A webhook endpoint${given.organizationName ? ` of ${name(given.organizationName)}` : ""} is disabled`,
  paragraphs: [
    `The webhook endpoint ${name(given.endpointUrl)} is disabled, because its address answered 410 Gone or every delivery failed for five days.`,
    "It gets no more messages until you enable it. The messages of the last days are listed with it: you can send each again.",
  ],
  action: { label: "See how to enable it", url: given.url },
  notes: ["You get this email because you own the account."],
});

interface NoticePlaceholders {
  url: string;
  unsubscribeUrl: string;
}
const unsubscribe = (url: string, what: string): Letter["unsubscribe"] => ({ label: `Stop mails about ${what}`, url });

export const lowCreditsLetter = ({
  url,
  unsubscribeUrl,
  remaining,
  monthly,
}: NoticePlaceholders & { remaining: number; monthly: number }): Letter => ({
  subject: "Your credits are running low",
  paragraphs: [
    `${String(remaining)} credits are left. Your plan gives ${String(monthly)} a month; runs that need more than there is are refused.`,
  ],
  action: { label: "See your credits", url },
  notes: [],
  unsubscribe: unsubscribe(unsubscribeUrl, "low credits"),
});

const PERIODS: Readonly<Record<AlertFacts["window"], string>> = {
  day: " of today",
  week: " of this week",
  month: " of this month",
  total: "",
};
const SUBJECTS: Readonly<Record<AlertFacts["scope"], string>> = { key: "the key", workflow: "the workflow", metadata: "runs with" };

interface AlertPlaceholders extends NoticePlaceholders, AlertFacts {
  /** Name of the organization that owns the budget; undefined for the reader's own. */
  organizationName?: string | undefined;
}

export const budgetAlertLetter = ({ url, unsubscribeUrl, organizationName, ...alert }: AlertPlaceholders): Letter => ({
  subject: `A budget${organizationName ? ` of ${name(organizationName)}` : ""} has reached ${String(alert.percent)} %`,
  paragraphs: [
    `The budget for ${SUBJECTS[alert.scope]} “${name(alert.subject)}” has reached ${String(alert.percent)} %: ${String(alert.used)} of ${String(alert.credits)} credits${PERIODS[alert.window]} are used or held.`,
    alert.resetsAt === null ? "It does not begin anew by itself." : `It begins anew at ${whenIn(alert.resetsAt)}.`,
  ],
  action: { label: organizationName ? "See the organization" : "See your budgets", url },
  notes: [],
  unsubscribe: unsubscribe(unsubscribeUrl, "budgets"),
});

interface RetiringPlaceholders extends NoticePlaceholders, RetiringFacts {
  organizationName?: string | undefined;
}

export const modelRetiringLetter = ({ url, unsubscribeUrl, organizationName, ...retiring }: RetiringPlaceholders): Letter => {
  const { model, retiresOn, successor, workflows, workflowCount } = retiring;
  const listed = workflows.map((workflow) => `“${name(workflow)}”`).join(", ");
  const others = workflowCount - workflows.length;
  const owner = organizationName ? `workflows of ${name(organizationName)}` : "your workflows";
  return {
    subject: `${name(model)} is shut down on ${retiresOn}`,
    paragraphs: [
      `The provider shuts the model ${name(model)} down on ${retiresOn}. It is used in ${owner}: ${listed}${others > 0 ? `, and ${String(others)} more` : ""}.`,
      successor === null
        ? "No model replaces it. Choose another model in these workflows."
        : `Change to ${name(successor)}, or turn on “Use the successor” in the node. Otherwise runs fail once the model is retired.`,
    ],
    action: { label: organizationName ? "See the organization" : "See your workflows", url },
    notes: [],
    unsubscribe: unsubscribe(unsubscribeUrl, "retiring models"),
  };
};
