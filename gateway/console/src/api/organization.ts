import type { Me } from "@nodeloom/client";
import { roleReaches, type Role } from "@nodeloom/kernel/organizations";

/** Which organization this tab works for; none is the person's own account. */

export const ORGANIZATION_HEADER = "X-Organization";
const KEY = "nodeloom.organization";

/** Reads from storage that a browser may refuse. */
const stored = (storage: Storage): string | undefined => {
  try {
    return storage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
};

const store = (storage: Storage, id: string): void => {
  try {
    storage.setItem(KEY, id);
  } catch {
    // A browser that stores nothing begins with the person's own account each time.
  }
};

/** A tab keeps its own choice; a new one begins with the latest. Empty: the person's own account. */
let chosen = stored(sessionStorage) ?? stored(localStorage) ?? "";
store(sessionStorage, chosen);

/** @returns undefined for the person's own account */
export const chosenOrganization = (): string | undefined => (chosen === "" ? undefined : chosen);

/** Works for the person's own account from now on: the organization is not theirs (any more). */
export const leaveOrganization = (): void => {
  chosen = "";
  for (const storage of [sessionStorage, localStorage]) store(storage, chosen);
};

/** Starts anew for another organization, or for the person's own account: nothing on the page is of the one before. */
export const workFor = (id: string | undefined, path = "/"): void => {
  chosen = id ?? "";
  for (const storage of [sessionStorage, localStorage]) store(storage, chosen);
  location.assign(path);
};

/** Who owns what is made here. */
export const ownerIdOf = ({ user, organization }: Me): string => organization?.id ?? user.id;

/** Whether the role in the organization reaches; of the own account all do. */
export const mayAs = ({ organization }: Me, role: Role): boolean => organization === undefined || roleReaches(organization.role, role);
