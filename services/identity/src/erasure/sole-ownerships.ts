import type { OrganizationStore } from "../organizations/organization-store";

/** An organization that would lose its last owner. */
export interface SoleOwnership {
  id: string;
  name: string;
}

/** Organizations whose only owner is the person. They need another owner, or must be erased, before the person's account can be erased. */
export type SoleOwnerships = (userId: string) => Promise<readonly SoleOwnership[]>;

export const createSoleOwnerships =
  (organizations: Pick<OrganizationStore, "listOf">): SoleOwnerships =>
  async (userId) => {
    const memberships = await organizations.listOf(userId);
    const ownersOf = ({ members }: (typeof memberships)[number]) => members.filter(({ role }) => role === "owner");
    const isSole = (organization: (typeof memberships)[number]): boolean =>
      ownersOf(organization).every(({ personId }) => personId === userId);
    return memberships.filter((organization) => !organization.erasure && isSole(organization)).map(({ _id, name }) => ({ id: _id, name }));
  };
