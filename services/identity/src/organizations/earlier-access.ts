/** Ends grants that a person set up. Everything that acts for an account without the person must check here first. */
import { DomainError, roleReaches } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { memberOf, withoutAdmitted } from "./members";
import { changeOrganization } from "./organizations";
import type { OrganizationStore } from "./organization-store";
import type { ServiceAccountStore } from "./service-account-store";
import type { UserRecord } from "../records";

/** A hook, a schedule, a batch or a published app, which later acts for an account. */
export interface Grant {
  /** The person who set up the grant. */
  personId: string;
  at: Date;
}

export interface EarlierAccess {
  /**
   * Called when the address turns out to belong to a different person than the registrant. Ends the registrant's keys, links, invitations
   * and admitted members and, by `accessFrom`, their grants.
   */
  endOfRegistrant(user: UserRecord): Promise<void>;
  /** Called when a person ends their sessions. Ends the invitations created by those sessions and, by `accessFrom`, their grants. */
  endOfSessions(user: UserRecord): Promise<void>;
  /** @throws UNAUTHENTICATED if the grant's creator has lost access */
  require(ownerId: string, grant: Grant): Promise<void>;
}

export interface EarlierAccessOptions {
  users: { find(id: string): Promise<UserRecord | null> };
  organizations: Pick<OrganizationStore, "find" | "change" | "listOf">;
  keys: { removeEnded(personId: string, epoch: number): Promise<void>; removeMadeBy(userId: string, personId: string): Promise<void> };
  serviceAccounts: Pick<ServiceAccountStore, "find" | "listCreatedBy" | "remove">;
  unlink(userId: string): Promise<unknown>;
  changes: Changes;
}

const accessEnded = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "the access of who set this up has ended: set it up again");

export const createEarlierAccess = ({
  users,
  organizations,
  keys,
  serviceAccounts,
  unlink,
  changes,
}: EarlierAccessOptions): EarlierAccess => {
  const endInOrganizations = async ({ _id: personId }: UserRecord, isForeign: boolean): Promise<void> => {
    for (const { _id, invitations } of await organizations.listOf(personId)) {
      if (!isForeign && !invitations.some(({ createdBy }) => createdBy === personId)) continue;
      const { before, after } = await changeOrganization(organizations, _id, (organization) => ({
        ...(isForeign ? withoutAdmitted(organization, personId) : {}),
        invitations: organization.invitations.filter(({ createdBy }) => createdBy !== personId),
      }));
      const removedMembers = before.members.filter((member) => !memberOf(after, member.personId));
      for (const member of removedMembers) await keys.removeMadeBy(_id, member.personId);
      await changes.announce({ type: "organization", id: _id });
    }
  };

  const endServiceAccounts = async ({ _id: personId }: UserRecord): Promise<void> => {
    for (const { _id, ownerId } of await serviceAccounts.listCreatedBy(personId)) {
      await serviceAccounts.remove(ownerId, _id);
      await keys.removeMadeBy(ownerId, _id);
      await changes.announce({ type: "user", id: _id });
    }
  };

  return {
    endOfRegistrant: async (user) => {
      await unlink(user._id);
      await keys.removeEnded(user._id, user.keyEpoch);
      await endServiceAccounts(user);
      await endInOrganizations(user, true);
    },
    endOfSessions: (user) => endInOrganizations(user, false),

    require: async (ownerId, { personId, at }) => {
      const person = await users.find(personId);
      if (!person && (await serviceAccounts.find(ownerId, personId))) return;
      // Old grants of organizations don't name their creator.
      if (!person && personId === ownerId && (await organizations.find(ownerId))) return;
      if (!person || (person.accessFrom && at < person.accessFrom)) throw accessEnded();
      if (personId === ownerId) return;
      const organization = await organizations.find(ownerId);
      const member = organization && memberOf(organization, personId);
      // Grants from before a member left stay invalid after they return.
      if (!member || at < member.since || !roleReaches(member.role, "runner")) throw accessEnded();
    },
  };
};
