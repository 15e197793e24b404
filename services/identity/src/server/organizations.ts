import { unary } from "@nodeloom/platform";
import type { organizations as messages } from "@nodeloom/proto";
import { toUserMessage } from "./messages";
import type { Invitations } from "../organizations/invitations";
import type { Member, Membership, Organizations } from "../organizations/organizations";
import type { InvitationRecord, OrganizationRecord, ServiceAccountRecord } from "../organizations/records";
import { serviceEmail } from "../organizations/accounts";
import type { ServiceAccounts } from "../keys/service-accounts";

type Server = messages.OrganizationsServiceServer;

export interface OrganizationServices {
  organizations: Organizations;
  invitations: Invitations;
  serviceAccounts: ServiceAccounts;
}

const toOrganization = ({ _id, name, createdBy, createdAt, tierOf, members, erasure }: OrganizationRecord): messages.Organization => ({
  ...{ id: _id, name, createdBy, createdAt, tierOf },
  members: members.length,
  erasesAt: erasure?.erasesAt,
});

const toMembership = ({ organization, role, account }: Membership): messages.Membership => ({
  organization: toOrganization(organization),
  role,
  account: toUserMessage(account),
});

const toMember = ({ personId, email, role, since }: Member): messages.Member => ({ userId: personId, email, role, since });

const toInvitation = ({ hash: _hash, ...invitation }: InvitationRecord): messages.Invitation => invitation;

type OrganizationMethods = "createOrganization" | "listOrganizations" | "getMembership" | "renameOrganization" | "listAllOrganizations";

const ofOrganizations = ({ organizations }: OrganizationServices): Pick<Server, OrganizationMethods> => ({
  createOrganization: unary(async ({ personId, name }: messages.CreateOrganizationRequest) => ({
    membership: toMembership(await organizations.create(personId, name)),
  })),
  listOrganizations: unary(async ({ personId }: messages.ListOrganizationsRequest) => ({
    memberships: (await organizations.list(personId)).map(toMembership),
  })),
  getMembership: unary(async ({ personId, organizationId }: messages.GetMembershipRequest) => ({
    membership: toMembership(await organizations.membership(personId, organizationId)),
  })),
  renameOrganization: unary(async ({ personId, organizationId, name }: messages.RenameOrganizationRequest) => {
    const { membership, nameBefore } = await organizations.rename(personId, organizationId, name);
    return { membership: toMembership(membership), nameBefore };
  }),
  listAllOrganizations: unary(async (request: messages.ListAllOrganizationsRequest) => {
    const page = await organizations.listAll(request);
    return { organizations: page.organizations.map(toOrganization), nextCursor: page.nextCursor };
  }),
});

const ofMembers = ({ organizations }: OrganizationServices): Pick<Server, "listMembers" | "changeMember" | "removeMember"> => ({
  listMembers: unary(async ({ personId, organizationId }: messages.ListMembersRequest) => ({
    members: (await organizations.members(personId, organizationId)).map(toMember),
  })),
  changeMember: unary(async ({ personId, organizationId, userId, role }: messages.ChangeMemberRequest) => {
    const { member, roleBefore } = await organizations.changeMember(personId, organizationId, userId, role);
    return { member: toMember(member), roleBefore };
  }),
  removeMember: unary(({ personId, organizationId, userId }: messages.RemoveMemberRequest) =>
    organizations.removeMember(personId, organizationId, userId),
  ),
});

type InvitationMethods = "listInvitations" | "createInvitation" | "deleteInvitation" | "checkInvitation" | "acceptInvitation";

const ofInvitations = ({ invitations }: OrganizationServices): Pick<Server, InvitationMethods> => ({
  listInvitations: unary(async ({ personId, organizationId }: messages.ListInvitationsRequest) => ({
    invitations: (await invitations.list(personId, organizationId)).map(toInvitation),
  })),
  createInvitation: unary(async ({ personId, organizationId, role, email }: messages.CreateInvitationRequest) => {
    const { invitation, token } = await invitations.create(personId, organizationId, { role, email });
    return { invitation: toInvitation(invitation), token };
  }),
  deleteInvitation: unary(async ({ personId, organizationId, invitationId }: messages.DeleteInvitationRequest) => {
    await invitations.remove(personId, organizationId, invitationId);
    return {};
  }),
  checkInvitation: unary(({ token }: messages.CheckInvitationRequest) => invitations.check(token)),
  acceptInvitation: unary(async ({ personId, token }: messages.AcceptInvitationRequest) => ({
    membership: toMembership(await invitations.accept(personId, token)),
  })),
});

const toServiceAccount = ({ _id, name, capabilities, createdBy, createdAt }: ServiceAccountRecord): messages.ServiceAccount => ({
  ...{ id: _id, name, capabilities, email: serviceEmail(_id), createdBy, createdAt },
});

type ServiceAccountMethods = "listServiceAccounts" | "createServiceAccount" | "updateServiceAccount" | "deleteServiceAccount";

const ofServiceAccounts = ({ serviceAccounts }: OrganizationServices): Pick<Server, ServiceAccountMethods> => ({
  listServiceAccounts: unary(async (request: messages.ListServiceAccountsRequest) => ({
    serviceAccounts: (await serviceAccounts.list(request)).map(toServiceAccount),
  })),
  createServiceAccount: unary(async ({ name, capabilities, ...of }: messages.CreateServiceAccountRequest) => ({
    serviceAccount: toServiceAccount(await serviceAccounts.create(of, { name, capabilities })),
    before: undefined,
  })),
  updateServiceAccount: unary(async ({ id, name, capabilities, ...of }: messages.UpdateServiceAccountRequest) => {
    const { before, after } = await serviceAccounts.edit(of, id, {
      ...(name === undefined ? {} : { name }),
      ...(capabilities ? { capabilities: capabilities.capabilities } : {}),
    });
    return { serviceAccount: toServiceAccount(after), before: toServiceAccount(before) };
  }),
  deleteServiceAccount: unary(async ({ id, ...of }: messages.DeleteServiceAccountRequest) => ({
    serviceAccount: toServiceAccount(await serviceAccounts.remove(of, id)),
    before: undefined,
  })),
});

export const organizationHandlers = (services: OrganizationServices): Server => ({
  ...ofOrganizations(services),
  ...ofMembers(services),
  ...ofInvitations(services),
  ...ofServiceAccounts(services),
});
