import { MAIL_LIMITS, type AlertFacts, type DecisionFacts, type RetiringFacts } from "../mails";
import { nameIn, type Letter } from "./letter";

/** One function for each kind of email. Its parameters are the email's placeholders. */

const name = (text: string): string => nameIn(text, MAIL_LIMITS.nameChars);
const NOT_YOURS = "If you didn't request this, do nothing. Your password stays as it is.";

export const passwordResetLetter = ({ url }: { url: string }): Letter => ({
  subject: "Set a new password",
  paragraphs: ["You, or another person, requested a new password for the account of this address."],
  action: { label: "Set a new password", url },
  notes: [
    "The link works once, for an hour. A new password signs out all devices. If your account has two-factor authentication, signing in still needs a code.",
    NOT_YOURS,
  ],
});

export const verificationLetter = ({ url }: { url: string }): Letter => ({
  subject: "Confirm your email address",
  paragraphs: [
    "An account was created with this address. Confirm that the address is yours to get notices and to keep other people from using it.",
  ],
  action: { label: "Confirm this address", url },
  notes: [
    "The link works for a day, in a browser where you are signed in to that account.",
    "If you didn't create an account, do nothing and don't sign in to confirm. The address then stays unconfirmed.",
  ],
});

export const invitationLetter = (names: { url: string; organizationName: string; inviterName: string }): Letter => {
  const [organization, inviter] = [name(names.organizationName), name(names.inviterName)];
  return {
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter} invites you to the organization “${organization}”. As a member, you share its workflows, keys and credits, within the rights of your role.`,
    ],
    action: { label: "View the invitation", url: names.url },
    notes: ["The link is only for you. If you don't know the person who invites you, do nothing."],
  };
};

export const approvalLetter = ({ url }: { url: string }): Letter => ({
  subject: "Your account is approved",
  paragraphs: ["An administrator has approved your account. You can now run workflows."],
  action: { label: "Open the console", url },
  notes: [],
});

const whenIn = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

export const decisionRequestLetter = (request: {
  url: string;
  title: string;
  workflowSlug: string;
  accountName: string;
  until: Date;
  onTimeout: string;
}): Letter => {
  const [title, account, workflow] = [name(request.title), name(request.accountName), name(request.workflowSlug)];
  return {
    subject: `Approval requested: ${title}`,
    paragraphs: [
      `A run of the workflow “${workflow}” of ${account} waits for your decision: “${title}”`,
      `Decide until ${whenIn(request.until.toISOString())}. After that, the run is ${request.onTimeout === "approve" ? "approved" : "rejected"} automatically.`,
    ],
    action: { label: "View and decide", url: request.url },
    notes: [
      "You don't need an account. The link is only for you: everyone who has it can decide in your name. It ends with the first decision.",
      `You get this mail because ${account} names this address as an approver. If you don't know why, do nothing.`,
    ],
  };
};

interface DecisionPlaceholders extends DecisionFacts {
  url: string;
  organizationName: string;
}

export const organizationLeavingLetter = ({ url, erasesAt, ...names }: DecisionPlaceholders): Letter => {
  const [organization, person] = [name(names.organizationName), name(names.personName)];
  return {
    subject: `${organization} will be deleted`,
    paragraphs: [
      `${person} requested the deletion of the organization “${organization}”. From now on, it can't run anything.`,
      `On ${whenIn(erasesAt)}, its workflows, files, runs, keys, secrets and remaining credits are deleted for good.`,
    ],
    action: { label: "View the organization", url },
    notes: ["You get this mail as an owner. Until then, every owner can cancel the deletion."],
  };
};

export const organizationKeptLetter = ({ url, erasesAt, ...names }: DecisionPlaceholders): Letter => {
  const [organization, person] = [name(names.organizationName), name(names.personName)];
  return {
    subject: `${organization} won't be deleted`,
    paragraphs: [
      `${person} cancelled the deletion of the organization “${organization}”, which was due on ${whenIn(erasesAt)}.`,
      "Its schedules and hooks run again. Cancelled runs stay cancelled.",
    ],
    action: { label: "View the organization", url },
    notes: ["You get this mail as an owner."],
  };
};

export const endpointDisabledLetter = (endpoint: { url: string; endpointUrl: string; organizationName?: string | undefined }): Letter => ({
  subject: `A webhook endpoint${endpoint.organizationName ? ` of ${name(endpoint.organizationName)}` : ""} is disabled`,
  paragraphs: [
    `The webhook endpoint ${name(endpoint.endpointUrl)} is disabled, because its address answered 410 Gone or every delivery failed for five days.`,
    "It gets no more messages until you enable it. The messages of the last days are listed with it: you can send each again.",
  ],
  action: { label: "View webhooks", url: endpoint.url },
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
    `You have ${String(remaining)} credits left. Your plan adds ${String(monthly)} a month. Runs that need more credits than you have are rejected.`,
  ],
  action: { label: "View your credits", url },
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
  /** Name of the organization that owns the budget; undefined for the reader's own account. */
  organizationName?: string | undefined;
}

export const budgetAlertLetter = ({ url, unsubscribeUrl, organizationName, ...alert }: AlertPlaceholders): Letter => ({
  subject: `A budget${organizationName ? ` of ${name(organizationName)}` : ""} has reached ${String(alert.percent)} %`,
  paragraphs: [
    `The budget for ${SUBJECTS[alert.scope]} “${name(alert.subject)}” has reached ${String(alert.percent)} %: ${String(alert.used)} of ${String(alert.credits)} credits${PERIODS[alert.window]} are used or held.`,
    alert.resetsAt === null ? "This budget never resets." : `It resets at ${whenIn(alert.resetsAt)}.`,
  ],
  action: { label: organizationName ? "View the organization" : "View your budgets", url },
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
