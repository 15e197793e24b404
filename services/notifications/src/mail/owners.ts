import { isRefusal } from "@nodeloom/kernel";
import type { EmailAddresses } from "../clients";
import type { Mail, OfAccount } from "./mails";
import type { MailQueue } from "./queue";

type AboutAccount = Extract<
  Mail,
  { kind: "lowCredits" | "budgetAlert" | "modelRetiring" | "endpointDisabled" | "organizationLeaving" | "organizationKept" }
>;
type WithoutReader<M> = M extends unknown ? Omit<M, keyof OfAccount> : never;
/** An email about an account whose owners aren't looked up yet. */
export type OwnersMail = WithoutReader<AboutAccount>;

export interface OwnersMails {
  /**
   * Queues an email for the person who owns the account, or for each owner of the organization (at most ORGANIZATION_BOUNDS.mailedOwners).
   * Owners of a deleted account get none.
   * @param about distinguishes emails of the same kind about the same account
   */
  addForOwners(accountId: string, mail: OwnersMail, about: string): Promise<void>;
}

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
