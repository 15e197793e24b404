import { DomainError, roleDenied, roleReaches, type Role } from "@nodeloom/kernel";
import type { OrganizationChange } from "./organization-store";
import type { MemberRecord, OrganizationRecord } from "./records";

/** Rules for changes of members. */

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

/** @throws NOT_FOUND for a non-member, CAPABILITY_DENIED for an insufficient role */
export const requireRole = (organization: Pick<OrganizationRecord, "members">, personId: string, needed: Role): MemberRecord => {
  const member = memberOf(organization, personId);
  if (!member) throw noSuchOrganization();
  if (!roleReaches(member.role, needed)) throw roleDenied(needed);
  return member;
};

type Standing = Pick<OrganizationRecord, "_id" | "members" | "tierOf" | "createdBy" | "place" | "invitations">;

/**
 * Changes the members of an organization. If the person whose tier applies is no longer an owner, the tier of the longest-standing owner
 * applies. The creator's slot becomes free when the creator leaves. Invitations end when their creator is no longer an owner.
 * @throws PRECONDITION_FAILED if no owner would remain
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
 * Removes the members that a person admitted, directly or indirectly. Old rows don't store who admitted a member; for them the
 * organization's creator is assumed.
 */
export const withoutAdmitted = (organization: Standing, personId: string): OrganizationChange => {
  const removedIds = new Set<string>();
  const isGone = ({ admittedBy = organization.createdBy }: MemberRecord): boolean => admittedBy === personId || removedIds.has(admittedBy);
  // Members are ordered by time, so the admitting member always comes first.
  for (const member of organization.members) if (member.personId !== personId && isGone(member)) removedIds.add(member.personId);
  const remaining = organization.members.filter((member) => !removedIds.has(member.personId));
  // The last owner was removed.
  const hasOwner = remaining.some(({ role }) => role === "owner");
  return withMembers(
    organization,
    hasOwner ? remaining : remaining.map((member) => (member.personId === personId ? { ...member, role: "owner" } : member)),
  );
};

/** Changes a member's role. @throws NOT_FOUND, or PRECONDITION_FAILED if no owner would remain */
export const withRole = (organization: Standing, personId: string, role: Role): OrganizationChange => {
  if (!memberOf(organization, personId)) throw noSuchMember();
  const change = (member: MemberRecord): MemberRecord => (member.personId === personId ? { ...member, role } : member);
  return withMembers(organization, organization.members.map(change));
};

/** Removes a member. @throws NOT_FOUND, or PRECONDITION_FAILED if no owner would remain */
export const withoutMember = (organization: Standing, personId: string): OrganizationChange => {
  if (!memberOf(organization, personId)) throw noSuchMember();
  return withMembers(
    organization,
    organization.members.filter((member) => member.personId !== personId),
  );
};
