/** Folders in which users organize workflows. */

import { randomUUID } from "node:crypto";
import { DomainError, invalidRequest, isLonger, LIMITS } from "@nodeloom/kernel";

export interface Folder {
  id: string;
  ownerId: string;
  name: string;
  createdAt: Date;
}

export interface FolderStore {
  insert(folder: Folder): Promise<void>;
  count(ownerId: string): Promise<number>;
  /** Folders, sorted by name. */
  list(ownerId: string): Promise<Folder[]>;
  exists(id: string, ownerId: string): Promise<boolean>;
  rename(id: string, ownerId: string, name: string): Promise<Folder | undefined>;
  /** @returns false if the folder doesn't exist */
  remove(id: string, ownerId: string): Promise<boolean>;
}

export interface Folders {
  create(ownerId: string, name: string): Promise<Folder>;
  list(ownerId: string): Promise<Folder[]>;
  rename(id: string, ownerId: string, name: string): Promise<Folder>;
  /** Removes a folder. Its workflows move to the root level. */
  remove(id: string, ownerId: string): Promise<void>;
}

export interface FoldersDeps {
  store: FolderStore;
  /** Moves the owner's workflows from a folder to the root level. */
  empty(folderId: string, ownerId: string): Promise<void>;
}

const MAX_FOLDERS = 1_000;

const checkName = (name: string): void => {
  if (name.trim() === "") throw invalidRequest([{ path: "name", message: "must not be empty" }]);
  if (isLonger(name, LIMITS.nameChars))
    throw invalidRequest([{ path: "name", message: `must have at most ${LIMITS.nameChars} characters` }]);
};

const notFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "folder not found");

export const createFolders = ({ store, empty }: FoldersDeps): Folders => ({
  create: async (ownerId, name) => {
    checkName(name);
    if ((await store.count(ownerId)) >= MAX_FOLDERS)
      throw invalidRequest([{ path: "", message: `at most ${MAX_FOLDERS} folders are allowed` }]);
    const folder = { id: randomUUID(), ownerId, name, createdAt: new Date() };
    await store.insert(folder);
    return folder;
  },
  list: (ownerId) => store.list(ownerId),
  rename: async (id, ownerId, name) => {
    checkName(name);
    const folder = await store.rename(id, ownerId, name);
    if (!folder) throw notFound();
    return folder;
  },
  remove: async (id, ownerId) => {
    // The folder is removed first, because a concurrent save into it checks again afterwards. Emptying a missing folder completes an
    // interrupted removal.
    const existed = await store.remove(id, ownerId);
    await empty(id, ownerId);
    if (!existed) throw notFound();
  },
});
