import { randomBytes, randomUUID } from "node:crypto";
import { accountNotApproved, DomainError, invalidRequest, ORGANIZATION_BOUNDS, type Role } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { nameOf } from "../networks";
import { isEmail, normaliseEmail } from "../users/emails";
import type { Users } from "../users/users";
import type { Accounts } from "./accounts";
import { memberOf, noSuchOrganization, requireRole } from "./members";
import type { OrganizationStore } from "./organization-store";
import { atLimit, changeOrganization, readRole, requireRoom, type Membership } from "./organizations";
import type { InvitationRecord, OrganizationRecord } from "./records";

const SECRET_BYTES = 32;
/** `<organization id>.<secret>`. The id finds the organization without an index on secrets. */
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;
const PURPOSE = "invitation";
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Invitations to an organization. Each can be used once and expires after some days. */
export interface Invitations {
  /** Lists invitations, oldest first. Only for owners. */
  list(personId: string, id: string): Promise<InvitationRecord[]>;
  /**
   * Creates an invitation. Only for owners. The token is part of a link. The address names the intended recipient, but anyone with the link
   * can use it.
   * @throws INVALID_REQUEST, or PRECONDITION_FAILED at the limits
   */
  create(
    personId: string,
    id: string,
    invitation: { role: string; email: string },
  ): Promise<{ invitation: InvitationRecord; token: string }>;
  /** Removes an invitation. Only for owners. */
  remove(personId: string, id: string, invitationId: string): Promise<void>;
  /** Returns the organization and role of a token. @throws NOT_FOUND like `accept` */
  check(token: string): Promise<{ organizationId: string; role: Role }>;
  /**
   * @throws NOT_FOUND for a token that is unknown, used, withdrawn or expired; ALREADY_EXISTS, ACCOUNT_NOT_APPROVED, PRECONDITION_FAILED
   */
  accept(personId: string, token: string): Promise<Membership>;
}

export interface InvitationsOptions {
  store: OrganizationStore;
  users: Pick<Users, "get">;
  accounts: Pick<Accounts, "ofOrganization">;
  changes: Changes;
  pepper: string;
  clock?: () => number;
}

const noSuchInvitation = (): DomainError =>
  new DomainError("not_found", "NOT_FOUND", "this invitation is unknown, used, withdrawn or expired; ask for another one");
const isMember = (): DomainError =>
  new DomainError("conflict", "ALREADY_EXISTS", "you are a member of this organization already; the invitation stays as it is");

const readEmail = (address: string): string => {
  const email = normaliseEmail(address);
  if (email === "" || isEmail(email)) return email;
  throw invalidRequest([{ path: "email", message: "must be an e-mail address" }]);
};

export const createInvitations = (options: InvitationsOptions): Invitations => {
  const { store, users, accounts, changes, pepper, clock = Date.now } = options;
  const hashOf = (secret: string): string => nameOf(pepper, PURPOSE, secret);
  const usable = ({ invitations }: OrganizationRecord): InvitationRecord[] =>
    invitations.filter(({ expiresAt }) => expiresAt.getTime() > clock());
  const asOwner = async (personId: string, id: string): Promise<OrganizationRecord> => {
    const organization = await store.findOf(personId, id);
    if (!organization) throw noSuchOrganization();
    requireRole(organization, personId, "owner");
    return organization;
  };

  const create: Invitations["create"] = async (personId, id, newInvitation) => {
    const role = readRole(newInvitation.role);
    const email = readEmail(newInvitation.email);
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const createdAt = new Date(clock());
    const expiresAt = new Date(createdAt.getTime() + ORGANIZATION_BOUNDS.invitationDays * DAY_MS);
    const invitation = { id: randomUUID(), hash: hashOf(secret), role, email, createdBy: personId, createdAt, expiresAt };
    await changeOrganization(store, id, (organization) => {
      requireRole(organization, personId, "owner");
      const open = usable(organization);
      const { invitations: most } = ORGANIZATION_BOUNDS;
      if (open.length >= most) throw atLimit(`no more than ${most} invitations can be open; withdraw one first`, most);
      return { invitations: [...open, invitation] };
    });
    return { invitation, token: `${id}.${secret}` };
  };

  const find = async (token: string): Promise<{ id: string; hash: string; role: Role }> => {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    if (id === undefined || secret === undefined) throw noSuchInvitation();
    const hash = hashOf(secret);
    const organization = await store.find(id);
    const invitation = organization && usable(organization).find((one) => one.hash === hash);
    if (!invitation) throw noSuchInvitation();
    return { id, hash, role: invitation.role };
  };

  const accept: Invitations["accept"] = async (personId, token) => {
    const { id, hash } = await find(token);
    const person = await users.get(personId);
    if (!person.approved) throw accountNotApproved();
    await requireRoom(store, personId);
    const { after } = await changeOrganization(store, id, (organization) => {
      const invitation = usable(organization).find((one) => one.hash === hash);
      if (!invitation) throw noSuchInvitation();
      if (memberOf(organization, personId)) throw isMember();
      const { members: most } = ORGANIZATION_BOUNDS;
      if (organization.members.length >= most) throw atLimit(`an organization has at most ${most} members`, most);
      return {
        members: [...organization.members, { personId, role: invitation.role, since: new Date(clock()), admittedBy: invitation.createdBy }],
        invitations: organization.invitations.filter((one) => one.hash !== hash),
      };
    });
    await changes.announce({ type: "organization", id });
    const { role } = requireRole(after, personId, "viewer");
    return { organization: after, role, account: await accounts.ofOrganization(after) };
  };

  return {
    create,
    accept,
    check: async (token) => {
      const { id, role } = await find(token);
      return { organizationId: id, role };
    },
    list: async (personId, id) => usable(await asOwner(personId, id)),
    remove: async (personId, id, invitationId) => {
      await changeOrganization(store, id, (organization) => {
        requireRole(organization, personId, "owner");
        const { invitations } = organization;
        const remaining = invitations.filter((one) => one.id !== invitationId);
        if (remaining.length === invitations.length) throw new DomainError("not_found", "NOT_FOUND", "invitation not found");
        return { invitations: remaining };
      });
    },
  };
};
