import { isRefusal } from "@nodeloom/kernel";
import type { EmailAddresses } from "../clients";
import type { Mail, OfAccount } from "./mails";
import type { MailQueue } from "./queue";

type AboutAccount = Extract<Mail, { kind: "lowCredits" | "budgetAlert" | "organizationLeaving" | "organizationKept" }>;
type WithoutReader<M> = M extends unknown ? Omit<M, keyof OfAccount> : never;
/** A mail about an account, before it is known who its owners are. */
export type OwnersMail = WithoutReader<AboutAccount>;

export interface OwnersMails {
  /**
   * Takes a mail for the person whose account it is about, or for each of the organization's owners (ORGANIZATION_BOUNDS.mailedOwners at
   * most). Of an account that is gone nobody is mailed.
   * @param about what makes two mails of a kind about one account different
   */
  addForOwners(accountId: string, mail: OwnersMail, about: string): Promise<void>;
}

/** Every way in which a mail is taken. */
export type Mails = MailQueue & OwnersMails;

export interface OwnersMailsOptions {
  queue: Pick<MailQueue, "add">;
  addresses: Pick<EmailAddresses, "listOwners">;
}

export const createOwnersMails = ({ queue, addresses }: OwnersMailsOptions): OwnersMails => {
  const ownersOf = async (accountId: string) => {
    try {
      return await addresses.listOwners({ accountId });
    } catch (error) {
      if (isRefusal(error)) return { userIds: [], organizationName: "" };
      throw error;
    }
  };
  return {
    addForOwners: async (accountId, mail, about) => {
      const { userIds, organizationName: name } = await ownersOf(accountId);
      const organization = name === "" ? undefined : { id: accountId, name };
      for (const userId of userIds) await queue.add({ ...mail, userId, organization }, about);
    },
  };
};
