import type { identity, organizations } from "@nodeloom/proto";
import { newUser, type Instance } from "../support";

/** Helpers for people who create and join organizations. */
export const peopleAt = (one: () => Instance) => {
  const make = async (person: identity.User, name = "Loom Works"): Promise<string> => {
    const { membership } = await one().organizations.createOrganization({ personId: person.id, name });
    return membership!.organization!.id;
  };
  const invite = async (owner: identity.User, organizationId: string, role = "editor"): Promise<string> =>
    (await one().organizations.createInvitation({ personId: owner.id, organizationId, role, email: "" })).token;
  return {
    make,
    invite,
    join: async (owner: identity.User, organizationId: string, role = "editor"): Promise<identity.User> => {
      const person = await newUser(one().client);
      await one().organizations.acceptInvitation({ personId: person.id, token: await invite(owner, organizationId, role) });
      return person;
    },
    rolesOf: async (person: identity.User, organizationId: string): Promise<Record<string, string>> => {
      const { members } = await one().organizations.listMembers({ personId: person.id, organizationId });
      return Object.fromEntries(members.map((member: organizations.Member) => [member.userId, member.role]));
    },
  };
};

/** Reasons of the rejected calls. */
export const refusals = async (calls: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).flatMap((result) =>
    result.status === "rejected" ? [(result.reason as { reason: string }).reason] : [],
  );
