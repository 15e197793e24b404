import type { Me } from "@nodeloom/client";
import { roleReaches, type Role } from "@nodeloom/kernel/organizations";

/** Header with the tab's organization; absent for the person's own account. */

const HEADER = "X-Organization";
const KEY = "nodeloom.organization";

/** Reads from storage that the browser may block. */
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
    // Without storage, each visit starts with the person's own account.
  }
};

/** Empty for the person's own account; undefined before the first read. */
let chosenId: string | undefined;

/** A tab keeps its choice, and a new tab starts with the latest choice. */
const read = (): string => {
  if (chosenId !== undefined) return chosenId;
  chosenId = stored(sessionStorage) ?? stored(localStorage) ?? "";
  store(sessionStorage, chosenId);
  return chosenId;
};

const choose = (id: string): void => {
  chosenId = id;
  for (const storage of [sessionStorage, localStorage]) store(storage, id);
};

/** @returns undefined for the person's own account */
export const chosenOrganization = (): string | undefined => read() || undefined;

/** Adds the tab's organization to a request's headers. */
export const headersOf = (init?: HeadersInit): Headers => {
  const headers = new Headers(init);
  const organization = chosenOrganization();
  if (organization !== undefined) headers.set(HEADER, organization);
  return headers;
};

/** Returns to the person's own account after they lose access to the organization. */
export const leaveOrganization = (): void => choose("");

/** Reloads the page for another account, so that no data of the previous account remains. */
export const workFor = (id: string | undefined, path = "/"): void => {
  choose(id ?? "");
  location.assign(path);
};

/** Owner of new resources. */
export const ownerIdOf = ({ user, organization }: Me): string => organization?.id ?? user.id;

/** Owner of a workflow: the organization, or else the person who created it. */
export const ownerOf = ({ createdBy, organizationId }: { createdBy: string; organizationId?: string }): string =>
  organizationId ?? createdBy;

/** True if the person's role in the organization is sufficient. In their own account a person has all rights. */
export const mayAs = ({ organization }: Me, role: Role): boolean => organization === undefined || roleReaches(organization.role, role);
