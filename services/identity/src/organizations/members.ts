import { DomainError, roleDenied, roleReaches, type Role } from "@nodeloom/kernel";
import type { OrganizationChange } from "./organization-store";
import type { MemberRecord, OrganizationRecord } from "./records";

/** What members may do to each other. */

export const noSuchOrganization = (): DomainError => new DomainError("not_found", "NOT_FOUND", "organization not found");
export const noSuchMember = (): DomainError => new DomainError("not_found", "NOT_FOUND", "the organization has no such member");

const withoutOwner = (): DomainError =>
  new DomainError(
    "precondition",
    "PRECONDITION_FAILED",
    "an organization keeps at least one owner: make another member an owner first, or delete the organization",
  );

export const memberOf = ({ members }: Pick<OrganizationRecord, "members">, personId: string): MemberRecord | undefined =>
  members.find((member) => member.personId === personId);

/** @throws NOT_FOUND for who is no member, CAPABILITY_DENIED for one whose role does not reach */
export const requireRole = (organization: Pick<OrganizationRecord, "members">, personId: string, needed: Role): MemberRecord => {
  const member = memberOf(organization, personId);
  if (!member) throw noSuchOrganization();
  if (!roleReaches(member.role, needed)) throw roleDenied(needed);
  return member;
};

type Standing = Pick<OrganizationRecord, "_id" | "members" | "tierOf" | "createdBy" | "place" | "invitations">;

/**
 * The organization with other members. Where the person whose tier it has is no owner any more, the longest-standing owner's is.
 * The place among those that its maker made is free once the maker is no member. Invitations end with their maker's being an owner.
 * @throws PRECONDITION_FAILED where no owner would be left
 */
const withMembers = ({ _id, tierOf, createdBy, place, invitations }: Standing, members: MemberRecord[]): OrganizationChange => {
  const owners = members.filter(({ role }) => role === "owner");
  const [first] = owners;
  if (!first) throw withoutOwner();
  const isOwner = (id: string): boolean => owners.some(({ personId }) => personId === id);
  const keepsPlace = members.some(({ personId }) => personId === createdBy);
  return {
    members,
    tierOf: isOwner(tierOf) ? tierOf : first.personId,
    place: keepsPlace ? place : _id,
    invitations: invitations.filter((invitation) => isOwner(invitation.createdBy)),
  };
};

/**
 * The organization without those whom a person admitted, and whom these did in turn. Who admitted a member was not always kept: it is
 * taken for the organization's maker.
 */
export const withoutAdmitted = (organization: Standing, personId: string): OrganizationChange => {
  const gone = new Set<string>();
  const isGone = ({ admittedBy = organization.createdBy }: MemberRecord): boolean => admittedBy === personId || gone.has(admittedBy);
  // Longest-standing first: who admitted a member comes before.
  for (const member of organization.members) if (member.personId !== personId && isGone(member)) gone.add(member.personId);
  const left = organization.members.filter((member) => !gone.has(member.personId));
  // The last owner was one of those.
  const hasOwner = left.some(({ role }) => role === "owner");
  return withMembers(
    organization,
    hasOwner ? left : left.map((member) => (member.personId === personId ? { ...member, role: "owner" } : member)),
  );
};

/** Gives a member another role. @throws NOT_FOUND, or PRECONDITION_FAILED where no owner would be left */
export const withRole = (organization: Standing, personId: string, role: Role): OrganizationChange => {
  if (!memberOf(organization, personId)) throw noSuchMember();
  const change = (member: MemberRecord): MemberRecord => (member.personId === personId ? { ...member, role } : member);
  return withMembers(organization, organization.members.map(change));
};

/** Takes a member out. @throws NOT_FOUND, or PRECONDITION_FAILED where no owner would be left */
export const withoutMember = (organization: Standing, personId: string): OrganizationChange => {
  if (!memberOf(organization, personId)) throw noSuchMember();
  return withMembers(
    organization,
    organization.members.filter((member) => member.personId !== personId),
  );
};
