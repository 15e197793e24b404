import { isRefusal } from "@nodeloom/kernel";
import type { EmailAddresses, Executions } from "../clients";
import {
  approvalLetter,
  budgetAlertLetter,
  decisionRequestLetter,
  endpointDisabledLetter,
  invitationLetter,
  lowCreditsLetter,
  modelRetiringLetter,
  organizationKeptLetter,
  organizationLeavingLetter,
  passwordResetLetter,
  verificationLetter,
} from "./letters";
import type { Letter } from "./letters/letter";
import { NOTICE_OF, type Mail, type OfAccount } from "./mails";

/** A complete email with its recipient. */
export interface WrittenMail {
  to: string;
  letter: Letter;
  /** Address for the POST that turns off this kind of email; absent if it can't be turned off. */
  oneClickUrl?: string;
}

export interface WriteOptions {
  addresses: Pick<EmailAddresses, "createMailedReset" | "createVerification" | "getAddress">;
  executions: Pick<Executions, "createDecisionLink">;
  /** Address of the console, without a trailing slash. */
  baseUrl: string;
}

/** Pages of the console. Browsers don't send the part after `#` to a server. */
const PAGES = {
  reset: "/reset-password#token=",
  verify: "/verify-address#token=",
  decide: "/decide#token=",
  unsubscribe: "/unsubscribe#token=",
} as const;
/** Opens the account that the link names. */
const ENDPOINTS = "/webhooks?account=";
const ONE_CLICK = "/api/mail/unsubscribe?token=";

/**
 * Writes emails when they are sent, with the recipient and tokens of that time.
 * @returns null if the email isn't wanted any more
 */
export const createWriter = ({ addresses, executions, baseUrl }: WriteOptions) => {
  /** Returns the reader's address; undefined if the account is deleted or suspended. */
  const addressOf = async (userId: string) => {
    try {
      const address = await addresses.getAddress({ userId });
      return address.suspended ? undefined : address;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  };

  const toAccount = async (userId: string, letter: Letter): Promise<WrittenMail | null> => {
    const account = await addressOf(userId);
    return account ? { to: account.email, letter } : null;
  };

  const notice = async (
    mail: Extract<Mail, { kind: "lowCredits" | "budgetAlert" | "modelRetiring" }>,
    letter: (unsubscribeUrl: string) => Letter,
  ): Promise<WrittenMail | null> => {
    const name = NOTICE_OF[mail.kind]!;
    const account = await addressOf(mail.userId);
    if (!account?.verifiedAt || account.mutedNotices.includes(name)) return null;
    const token = encodeURIComponent(account.unsubscribeTokens[name] ?? "");
    return { to: account.email, letter: letter(baseUrl + PAGES.unsubscribe + token), oneClickUrl: baseUrl + ONE_CLICK + token };
  };

  /** Returns the console page for an email's subject, in the reader's own account or in the organization. */
  const pageOf = ({ organization }: OfAccount, page: string): { url: string; organizationName: string | undefined } => ({
    url: organization ? `${baseUrl}/organizations/${organization.id}` : baseUrl + page,
    organizationName: organization?.name,
  });

  const decision = (mail: Extract<Mail, { kind: "organizationLeaving" | "organizationKept" }>): Promise<WrittenMail | null> => {
    const { url, organizationName = "" } = pageOf(mail, "/organizations");
    const letter = mail.kind === "organizationLeaving" ? organizationLeavingLetter : organizationKeptLetter;
    return toAccount(mail.userId, letter({ ...mail, url, organizationName }));
  };

  return async (mail: Mail): Promise<WrittenMail | null> => {
    switch (mail.kind) {
      case "passwordReset": {
        const { mailed } = await addresses.createMailedReset({ email: mail.email });
        return mailed ? { to: mailed.email, letter: passwordResetLetter({ url: baseUrl + PAGES.reset + mailed.token }) } : null;
      }
      case "verification": {
        const { mailed } = await addresses.createVerification({ userId: mail.userId });
        return mailed ? { to: mailed.email, letter: verificationLetter({ url: baseUrl + PAGES.verify + mailed.token }) } : null;
      }
      case "invitation":
        return { to: mail.to, letter: invitationLetter({ ...mail, url: mail.link }) };
      case "approval":
        return toAccount(mail.userId, approvalLetter({ url: `${baseUrl}/` }));
      case "decisionRequest": {
        const { kind: _, ...request } = mail;
        const { link } = await executions.createDecisionLink(request);
        return link?.until
          ? { to: mail.address, letter: decisionRequestLetter({ ...link, until: link.until, url: baseUrl + PAGES.decide + link.token }) }
          : null;
      }
      case "lowCredits":
        return notice(mail, (unsubscribeUrl) => lowCreditsLetter({ ...mail, url: `${baseUrl}/account`, unsubscribeUrl }));
      case "budgetAlert":
        return notice(mail, (unsubscribeUrl) => budgetAlertLetter({ ...mail.alert, ...pageOf(mail, "/budgets"), unsubscribeUrl }));
      case "modelRetiring":
        return notice(mail, (unsubscribeUrl) => modelRetiringLetter({ ...mail.retiring, ...pageOf(mail, "/workflows"), unsubscribeUrl }));
      case "endpointDisabled": {
        const { userId, organization } = mail;
        const url = baseUrl + ENDPOINTS + encodeURIComponent(organization?.id ?? userId);
        return toAccount(userId, endpointDisabledLetter({ ...mail, url, organizationName: organization?.name }));
      }
      case "organizationLeaving":
      case "organizationKept":
        return decision(mail);
    }
  };
};

export type WriteMail = ReturnType<typeof createWriter>;
