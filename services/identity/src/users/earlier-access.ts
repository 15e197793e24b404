/** Ends what a person set up until now: everything that acts for an account without them asks whether their access still stands. */
import { DomainError, roleReaches } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { memberOf, withoutAdmitted } from "../organizations/members";
import { changeOrganization } from "../organizations/organizations";
import type { OrganizationStore } from "../organizations/organization-store";
import type { UserRecord } from "../records";

/** What acts for an account later: a hook, a schedule, a batch, a published app. */
export interface Grant {
  /** Who set it up. */
  personId: string;
  at: Date;
}

export interface EarlierAccess {
  /**
   * The address is somebody else's than the person's who registered it: their keys, links, invitations and those whom they admitted to
   * organizations end, and, as the user's `accessFrom` says, what they set up.
   */
  endOfRegistrant(user: UserRecord): Promise<void>;
  /** The person ends their sessions: invitations that these made end, and, as `accessFrom` says, what they set up. */
  endOfSessions(user: UserRecord): Promise<void>;
  /** @throws UNAUTHENTICATED where the access of who set something up for an account has ended since */
  require(ownerId: string, grant: Grant): Promise<void>;
}

export interface EarlierAccessOptions {
  users: { find(id: string): Promise<UserRecord | null> };
  organizations: Pick<OrganizationStore, "find" | "change" | "listOf">;
  keys: { removeEnded(personId: string, epoch: number): Promise<void>; removeMadeBy(userId: string, personId: string): Promise<void> };
  unlink(userId: string): Promise<unknown>;
  changes: Changes;
}

const ended = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "the access of who set this up has ended: set it up again");

export const createEarlierAccess = ({ users, organizations, keys, unlink, changes }: EarlierAccessOptions): EarlierAccess => {
  const endInOrganizations = async ({ _id: personId }: UserRecord, isForeign: boolean): Promise<void> => {
    for (const { _id, invitations } of await organizations.listOf(personId)) {
      if (!isForeign && !invitations.some(({ createdBy }) => createdBy === personId)) continue;
      const { before, after } = await changeOrganization(organizations, _id, (organization) => ({
        ...(isForeign ? withoutAdmitted(organization, personId) : {}),
        invitations: organization.invitations.filter(({ createdBy }) => createdBy !== personId),
      }));
      const gone = before.members.filter((member) => !memberOf(after, member.personId));
      for (const member of gone) await keys.removeMadeBy(_id, member.personId);
      await changes.announce({ type: "organization", id: _id });
    }
  };

  return {
    endOfRegistrant: async (user) => {
      await unlink(user._id);
      await keys.removeEnded(user._id, user.keyEpoch);
      await endInOrganizations(user, true);
    },
    endOfSessions: (user) => endInOrganizations(user, false),

    require: async (ownerId, { personId, at }) => {
      const person = await users.find(personId);
      // Who set something up in an organization was not always kept.
      if (!person && personId === ownerId && (await organizations.find(ownerId))) return;
      if (!person || (person.accessFrom && at < person.accessFrom)) throw ended();
      if (personId === ownerId) return;
      const organization = await organizations.find(ownerId);
      const member = organization && memberOf(organization, personId);
      // What somebody set up before they left stays ended when they come back.
      if (!member || at < member.since || !roleReaches(member.role, "runner")) throw ended();
    },
  };
};
