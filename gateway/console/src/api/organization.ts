import type { Me } from "@nodeloom/client";
import { roleReaches, type Role } from "@nodeloom/kernel/organizations";

/** Which organization this tab works for; none is the person's own account. */

const HEADER = "X-Organization";
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

/** Empty: the person's own account. Undefined: not read yet. */
let chosen: string | undefined;

/** A tab keeps its own choice; a new one begins with the latest. */
const read = (): string => {
  if (chosen !== undefined) return chosen;
  chosen = stored(sessionStorage) ?? stored(localStorage) ?? "";
  store(sessionStorage, chosen);
  return chosen;
};

const choose = (id: string): void => {
  chosen = id;
  for (const storage of [sessionStorage, localStorage]) store(storage, id);
};

/** @returns undefined for the person's own account */
export const chosenOrganization = (): string | undefined => read() || undefined;

/** Headers of a request to this service, for the organization that the tab works for. */
export const headersOf = (given?: HeadersInit): Headers => {
  const headers = new Headers(given);
  const organization = chosenOrganization();
  if (organization !== undefined) headers.set(HEADER, organization);
  return headers;
};

/** Works for the person's own account from now on: the organization is not theirs (any more). */
export const leaveOrganization = (): void => choose("");

/** Starts anew for another organization, or for the person's own account: nothing on the page is of the one before. */
export const workFor = (id: string | undefined, path = "/"): void => {
  choose(id ?? "");
  location.assign(path);
};

/** Who owns what is made here. */
export const ownerIdOf = ({ user, organization }: Me): string => organization?.id ?? user.id;

/** Whose a workflow is: the organization's, or else that of the person who made it. */
export const ownerOf = ({ createdBy, organizationId }: { createdBy: string; organizationId?: string }): string =>
  organizationId ?? createdBy;

/** Whether the role in the organization reaches; of the own account all do. */
export const mayAs = ({ organization }: Me, role: Role): boolean => organization === undefined || roleReaches(organization.role, role);
