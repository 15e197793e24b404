/** Resolves the approvers of an approval to email addresses. */
import { isRole, roleReaches, type Role } from "@nodeloom/kernel";
import type { OrganizationStore } from "../organizations/organization-store";
import { noSuchUser, isVerified } from "../users/user";
import type { UserStore } from "../users/user-store";

/** Maximum people who are mailed about one approval. */
const MAX_MAILED = 50;

export interface MailedApprover {
  address: string;
  /** Empty if the address belongs to no member of the account. */
  personId: string;
}

export interface ApproversQuery {
  /** Id of a person or an organization. */
  accountId: string;
  /** Ids of members, roles or addresses, in lower case. */
  approvers: readonly string[];
  /** Person who is left out; empty for none. */
  excludedPersonId: string;
}

export interface MailedApprovers {
  approvers: MailedApprover[];
  /** Name of the organization, or address of the account's person. */
  accountName: string;
}

interface Account {
  name: string;
  members: readonly { personId: string; role: Role }[];
}

export interface ApproversOptions {
  users: Pick<UserStore, "find" | "findByEmail">;
  organizations: Pick<OrganizationStore, "find">;
}

export type ListApprovers = ReturnType<typeof createListApprovers>;

export const createListApprovers = ({ users, organizations }: ApproversOptions) => {
  const accountOf = async (accountId: string): Promise<Account> => {
    const person = await users.find(accountId);
    if (person) return { name: person.email, members: [{ personId: accountId, role: "owner" }] };
    const organization = await organizations.find(accountId);
    if (!organization) throw noSuchUser();
    return { name: organization.name, members: organization.members };
  };

  /** A member's address counts only if it is confirmed: a link mailed to it decides for the member. */
  const ofMember = async (personId: string): Promise<MailedApprover[]> => {
    const user = await users.find(personId);
    return user && !user.suspended && isVerified(user) ? [{ address: user.email, personId }] : [];
  };

  const ofAddress = async (address: string, { members }: Account): Promise<MailedApprover[]> => {
    const user = await users.findByEmail(address);
    if (user?.suspended) return [];
    return [{ address, personId: user && members.some(({ personId }) => personId === user._id) ? user._id : "" }];
  };

  const resolve = (approver: string, account: Account): Promise<MailedApprover[]> => {
    if (approver.includes("@")) return ofAddress(approver, account);
    const isNamed = isRole(approver)
      ? ({ role }: Account["members"][number]) => roleReaches(role, approver)
      : ({ personId }: Account["members"][number]) => personId === approver;
    const members = account.members.filter(isNamed).slice(0, MAX_MAILED);
    return Promise.all(members.map(({ personId }) => ofMember(personId))).then((lists) => lists.flat());
  };

  /** @returns at most MAX_MAILED approvers, each address once @throws NOT_FOUND for an unknown account */
  return async ({ accountId, approvers, excludedPersonId }: ApproversQuery): Promise<MailedApprovers> => {
    const account = await accountOf(accountId);
    const excludedPerson = excludedPersonId === "" ? null : await users.find(excludedPersonId);
    const byAddress = new Map<string, MailedApprover>();
    for (const approver of approvers)
      for (const mailed of await resolve(approver, account))
        if (mailed.address !== excludedPerson?.email && !byAddress.has(mailed.address)) byAddress.set(mailed.address, mailed);
    return { approvers: [...byAddress.values()].slice(0, MAX_MAILED), accountName: account.name };
  };
};
