import { DomainError, invalidRequest, type Issue } from "@nodeloom/kernel";
import type { Environment } from "@nodeloom/platform";
import { checkEntry } from "../checked-entry";
import { resolveEntry, type RegisteredModel } from "../resolved";
import type { AddedEntries, AddedEntry } from "./entries";
import { trustIssues } from "./trust";

/** Returns the error for a name that a registry file uses. */

export const isAFile = (internalName: string): DomainError =>
  new DomainError(
    "conflict",
    "ALREADY_EXISTS",
    `${internalName} is a file of the registry: PATCH changes its price, its tier and whether it is enabled`,
  );

interface Files {
  env: Environment;
  files: ReadonlyMap<string, RegisteredModel>;
}

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw invalidRequest([{ path: "", message: `is not JSON: ${(error as Error).message}` }]);
  }
};

const resolve = (json: string, { env, files }: Files): { model: RegisteredModel } | { issues: Issue[] } => {
  const checked = checkEntry(parse(json));
  if ("issues" in checked) return checked;
  const issues = trustIssues(checked.entry, files.values());
  return issues.length > 0 ? { issues } : resolveEntry(checked.entry, env);
};

/**
 * Validates a new entry like a file, and applies the rules for entries added over the API.
 * @param internalName name that the entry must have
 * @throws DomainError INVALID_REQUEST, ALREADY_EXISTS
 */
export const readAddedEntry = (
  json: string,
  { internalName, ...files }: Files & { internalName?: string | undefined },
): RegisteredModel => {
  const resolved = resolve(json, files);
  if ("issues" in resolved) throw invalidRequest(resolved.issues);
  const { model } = resolved;
  if (internalName !== undefined && model.internalName !== internalName)
    throw invalidRequest([{ path: "internalName", message: `must be ${internalName}, as in the address` }]);
  if (files.files.has(model.internalName)) throw isAFile(model.internalName);
  return model;
};

export const entryText = ({ json, revision }: AddedEntry): { json: string; revision: number; isFile: boolean } => ({
  json,
  revision,
  isFile: false,
});

export interface AddedModels {
  /** Returns the entries that aren't deleted. */
  living(entries: AddedEntries): RegisteredModel[];
  /** Returns an entry, even if it is deleted. */
  get(entries: AddedEntries, internalName: string): RegisteredModel | undefined;
}

/** Parses each entry text once. */
export const createAddedModels = ({
  onUnreadable,
  ...files
}: Files & { onUnreadable: (name: string, problem: string) => void }): AddedModels => {
  const modelsByEntry = new WeakMap<AddedEntry, RegisteredModel | undefined>();
  const modelOf = (name: string, entry: AddedEntry): RegisteredModel | undefined => {
    // A file of a later release takes precedence over an added entry with the same name.
    if (files.files.has(name)) return undefined;
    if (!modelsByEntry.has(entry)) {
      const resolved = resolve(entry.json, files);
      if ("issues" in resolved) onUnreadable(name, resolved.issues.map(({ path, message }) => `${path}: ${message}`).join("; "));
      const isLiving = entry.deletedAt === undefined;
      modelsByEntry.set(entry, "issues" in resolved ? undefined : { ...resolved.model, enabled: resolved.model.enabled && isLiving });
    }
    return modelsByEntry.get(entry);
  };
  return {
    living: (entries) =>
      Object.entries(entries).flatMap(([name, entry]) => (entry.deletedAt === undefined ? (modelOf(name, entry) ?? []) : [])),
    get: (entries, internalName) => {
      const entry = Object.hasOwn(entries, internalName) ? entries[internalName] : undefined;
      return entry && modelOf(internalName, entry);
    },
  };
};
