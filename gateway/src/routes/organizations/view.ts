import { ROLES } from "@nodeloom/kernel";
import type { organizations } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import { iso, name, timestamp } from "../../http/schemas";
import { email } from "../sign-in/fields";

export const role = z.enum(ROLES).meta({ description: "Each role includes the rights of the roles after it", example: "editor" });

/** The organization that a request is for. */
export const ownOrganization = z
  .object({
    id: z.string(),
    name: z.string(),
    role: role.meta({ description: "The caller's own role" }),
    erasesAt: timestamp.optional().meta({ description: "Set if its deletion is scheduled. Until then an owner can cancel it" }),
  })
  .meta({ id: "OwnOrganization" });

/** Absent if the request is for the person's own account. */
export const ownOrganizationView = ({ user, organization }: Pick<Caller, "user" | "organization">) =>
  organization
    ? {
        organization: {
          ...{ id: user.id, name: organization.name, role: organization.role },
          ...(user.erasesAt ? { erasesAt: user.erasesAt.toISOString() } : {}),
        },
      }
    : {};

export const organization = z
  .object({
    id: z.string().meta({ description: "Value for the header `X-Organization`, and owner id of everything the organization owns" }),
    name: z.string(),
    personal: z.boolean().meta({ description: "The caller's own account, which is an organization of one" }),
    role: role.meta({ description: "The caller's own role" }),
    tier: z.string(),
    tierOf: z.string().meta({ description: "User id of the owner whose tier, approval and suspension are the organization's" }),
    members: z.number(),
    createdBy: z.string().meta({ description: "User id" }),
    createdAt: timestamp.nullable(),
    erasesAt: timestamp.nullable().meta({ description: "Time of its deletion, if it is scheduled" }),
  })
  .meta({ id: "Organization" });

export const personalView = ({ person: { id, email, tier, erasesAt } }: Pick<Caller, "person">): z.infer<typeof organization> => ({
  ...{ id, name: email, personal: true, role: "owner", tier, tierOf: id, members: 1, createdBy: id },
  ...{ createdAt: null, erasesAt: iso(erasesAt) },
});

export const organizationView = (membership: organizations.Membership | undefined): z.infer<typeof organization> => {
  const { organization: membershipOrganization, account, role: own } = membership ?? {};
  if (!membershipOrganization || !account) throw new Error("identity answered without an organization");
  const { id, name: organizationName, tierOf, members, createdBy, createdAt, erasesAt } = membershipOrganization;
  return {
    ...{ id, name: organizationName, personal: false, role: role.parse(own), tier: account.tier, tierOf, members, createdBy },
    ...{ createdAt: iso(createdAt), erasesAt: iso(erasesAt) },
  };
};

export const naming = z.strictObject({ name }).meta({ id: "OrganizationName", example: { name: "Loom Works" } });

export const member = z.object({ userId: z.string(), email: z.string(), role, since: timestamp.nullable() }).meta({ id: "Member" });

export const memberView = ({ userId, email, role: own, since }: organizations.Member): z.infer<typeof member> => ({
  userId,
  email,
  role: role.parse(own),
  since: iso(since),
});

export const newInvitation = z
  .strictObject({
    role,
    email: email.optional().meta({ description: "The intended recipient. Anyone with the link can use it" }),
  })
  .meta({ id: "NewInvitation", example: { role: "editor", email: "grace@example.com" } });

export const invitation = z
  .object({
    id: z.string(),
    role,
    email: z.string().nullable(),
    createdBy: z.string().meta({ description: "User id" }),
    createdAt: timestamp.nullable(),
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: "Invitation" });

export const invitationView = (sentInvitation: organizations.Invitation | undefined): z.infer<typeof invitation> => {
  if (!sentInvitation) throw new Error("identity answered without an invitation");
  const { id, role: own, createdBy, createdAt, expiresAt } = sentInvitation;
  return {
    id,
    role: role.parse(own),
    email: sentInvitation.email || null,
    createdBy,
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
  };
};
