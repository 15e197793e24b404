/** Organizations are groups of people who share one account. Manages members, roles and invitations. */
import { randomUUID } from "node:crypto";
import {
  accountNotApproved,
  CONFLICT_ATTEMPTS,
  DomainError,
  invalidRequest,
  isLonger,
  isRole,
  LIMITS,
  ORGANIZATION_BOUNDS,
  ROLES,
  unavailable,
  UUID,
  type Role,
} from "@nodeloom/kernel";
import { fromCursor, insertIntoFreePlace, retryOnConflict, pageOf } from "@nodeloom/platform";
import type { Changes } from "../changes";
import { pageSize } from "../page-size";
import type { User } from "../users/user";
import type { Users } from "../users/users";
import type { Accounts } from "./accounts";
import { noSuchOrganization, requireRole, withoutMember, withRole } from "./members";
import type { OrganizationChange, OrganizationStore } from "./organization-store";
import type { MemberRecord, OrganizationRecord } from "./records";

export interface Membership {
  organization: OrganizationRecord;
  role: Role;
  account: User;
}

export interface Member extends MemberRecord {
  email: string;
}

export interface AllQuery {
  /** A part of the name; empty for all organizations. */
  query: string;
  /** Limits the list to organizations with this person's tier. */
  tierOf?: string;
  limit: number;
  cursor: string;
}

/** Operations of members on their organizations. Non-members get NOT_FOUND. */
export interface Organizations {
  /** @throws ACCOUNT_NOT_APPROVED, INVALID_REQUEST, or PRECONDITION_FAILED if the person has too many organizations */
  create(personId: string, name: string): Promise<Membership>;
  list(personId: string): Promise<Membership[]>;
  membership(personId: string, id: string): Promise<Membership>;
  /** Renames an organization. Only for owners. */
  rename(personId: string, id: string, name: string): Promise<{ membership: Membership; nameBefore: string }>;
  members(personId: string, id: string): Promise<Member[]>;
  /** Changes a member's role. Only for owners. @throws PRECONDITION_FAILED if no owner would remain */
  changeMember(personId: string, id: string, memberId: string, role: string): Promise<{ member: Member; roleBefore: Role }>;
  /** Removes a member and ends their keys. For owners, and for members who leave. @throws PRECONDITION_FAILED if no owner would remain */
  removeMember(personId: string, id: string, memberId: string): Promise<{ roleBefore: Role }>;
  /** Lists all organizations for administrators, newest first. */
  listAll(query: AllQuery): Promise<{ organizations: OrganizationRecord[]; nextCursor: string }>;
}

export interface OrganizationsOptions {
  store: OrganizationStore;
  users: Pick<Users, "get" | "find">;
  accounts: Accounts;
  /** Removes keys of an organization that a person created. */
  removeKeysOf(organizationId: string, personId: string): Promise<void>;
  changes: Changes;
  clock?: () => number;
}

export const readRole = (role: string): Role => {
  if (isRole(role)) return role;
  throw invalidRequest([{ path: "role", message: `must be one of ${ROLES.join(", ")}` }]);
};

export const readName = (text: string): string => {
  const name = text.trim();
  if (name !== "" && !isLonger(name, LIMITS.nameChars)) return name;
  throw invalidRequest([{ path: "name", message: `must have 1 to ${LIMITS.nameChars} characters` }]);
};

export const atLimit = (message: string, limit: number): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", message, { limit });

/** Reads an organization, decides about the change and writes it. Retries after concurrent changes. */
export const changeOrganization = async (
  store: Pick<OrganizationStore, "find" | "change">,
  id: string,
  decide: (organization: OrganizationRecord) => OrganizationChange,
): Promise<{ before: OrganizationRecord; after: OrganizationRecord }> => {
  const changed = await retryOnConflict(CONFLICT_ATTEMPTS.organization, async () => {
    const before = await store.find(id);
    if (!before) throw noSuchOrganization();
    const after = await store.change(before, decide(before));
    return after ? { before, after } : undefined;
  });
  if (!changed) throw unavailable("the organization is being changed by too many at once");
  return changed;
};

/** @throws PRECONDITION_FAILED if the person has too many memberships */
export const requireRoom = async (store: Pick<OrganizationStore, "countOf">, personId: string): Promise<void> => {
  const { memberships } = ORGANIZATION_BOUNDS;
  if ((await store.countOf(personId)) < memberships) return;
  throw atLimit(`nobody may be a member of more than ${memberships} organizations; leave one first`, memberships);
};

export const createOrganizations = (options: OrganizationsOptions): Organizations => {
  const { store, users, accounts, removeKeysOf, changes, clock = Date.now } = options;
  const announce = (id: string): Promise<void> => changes.announce({ type: "organization", id });
  const membershipOf = async (organization: OrganizationRecord, role: Role): Promise<Membership> => ({
    organization,
    role,
    account: await accounts.ofOrganization(organization),
  });
  const withEmail = async (member: MemberRecord): Promise<Member> => ({
    ...member,
    email: (await users.find(member.personId))?.email ?? "",
  });
  const find = async (personId: string, id: string): Promise<OrganizationRecord> => {
    const organization = UUID.test(id) ? await store.findOf(personId, id) : null;
    if (!organization) throw noSuchOrganization();
    return organization;
  };

  const create: Organizations["create"] = async (personId, newName) => {
    const name = readName(newName);
    const person = await users.get(personId);
    if (!person.approved) throw accountNotApproved();
    await requireRoom(store, personId);
    const placeOf = (place: number): string => `${personId} ${place}`;
    const { organizations: perPerson } = person.plan.caps;
    const places = Array.from({ length: perPerson }, (_, place) => placeOf(place));
    const now = new Date(clock());
    const organization: OrganizationRecord = {
      _id: randomUUID(),
      name,
      createdBy: personId,
      place: "",
      tierOf: personId,
      members: [{ personId, role: "owner", since: now }],
      memberIds: [personId],
      invitations: [],
      revision: 0,
      createdAt: now,
    };
    const place = await insertIntoFreePlace({
      places: perPerson,
      attempts: CONFLICT_ATTEMPTS.organization,
      usedPlaces: async () => (await store.takenPlaces(places)).map((takenPlace) => places.indexOf(takenPlace)),
      insert: (free) => store.insert({ ...organization, place: placeOf(free) }),
      full: () => atLimit(`nobody may have made more than ${perPerson} organizations; leave one first`, perPerson),
    });
    if (place === undefined) throw unavailable("too many organizations are being made at once");
    return membershipOf(organization, "owner");
  };

  const removeMember: Organizations["removeMember"] = async (personId, id, memberId) => {
    const { before } = await changeOrganization(store, id, (organization) => {
      requireRole(organization, personId, personId === memberId ? "viewer" : "owner");
      return withoutMember(organization, memberId);
    });
    await removeKeysOf(id, memberId);
    await announce(id);
    return { roleBefore: requireRole(before, memberId, "viewer").role };
  };

  return {
    create,
    removeMember,
    list: async (personId) => {
      const organizations = await store.listOf(personId);
      return Promise.all(
        organizations.map((organization) => membershipOf(organization, requireRole(organization, personId, "viewer").role)),
      );
    },
    membership: async (personId, id) => {
      const organization = await find(personId, id);
      return membershipOf(organization, requireRole(organization, personId, "viewer").role);
    },
    rename: async (personId, id, newName) => {
      const name = readName(newName);
      const { before, after } = await changeOrganization(store, id, (organization) => {
        requireRole(organization, personId, "owner");
        return { name };
      });
      await announce(id);
      return { membership: await membershipOf(after, "owner"), nameBefore: before.name };
    },
    members: async (personId, id) => Promise.all((await find(personId, id)).members.map(withEmail)),
    changeMember: async (personId, id, memberId, newRole) => {
      const role = readRole(newRole);
      const { before, after } = await changeOrganization(store, id, (organization) => {
        requireRole(organization, personId, "owner");
        return withRole(organization, memberId, role);
      });
      await announce(id);
      const member = await withEmail(requireRole(after, memberId, "viewer"));
      return { member, roleBefore: requireRole(before, memberId, "viewer").role };
    },
    listAll: async ({ query, tierOf, limit, cursor }) => {
      if (isLonger(query, LIMITS.searchChars))
        throw invalidRequest([{ path: "q", message: `must have at most ${LIMITS.searchChars} characters` }]);
      const size = pageSize(limit);
      const rows = await store.page({ query: query.trim(), tierOf, after: fromCursor(cursor), limit: size + 1 });
      const { rows: organizations, nextCursor } = pageOf(rows, size, ({ createdAt }) => createdAt);
      return { organizations, nextCursor };
    },
  };
};
