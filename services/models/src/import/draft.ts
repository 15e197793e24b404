import type { Issue, Modality } from "@nodeloom/kernel";

/** Drafts of entries from providers' public descriptions. */

export type Json = Readonly<Record<string, unknown>>;

export interface Draft {
  /** The entry. Unknown parts such as the price are null. */
  entry: Json;
  /** Notes for people about parts that weren't imported. */
  notes: string[];
}

export interface ImportRequest {
  /** Name that the provider uses for the model. */
  app: string;
  internalName?: string | undefined;
  modality?: Modality | undefined;
  now: number;
}

export interface Auth {
  header: string;
  scheme: string;
  secretEnv: string;
}

/** Reads providers' public descriptions. */
export interface PublicDescriptions {
  /** @throws DomainError if the document can't be read */
  json(address: string, auth?: Auth): Promise<unknown>;
}

/** An error in the import request; `path` is the request member. */
export class ImportProblem extends Error {
  override readonly name = "ImportProblem";
  constructor(readonly issue: Issue) {
    super(issue.message);
  }
}

export const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the value at a path of names; undefined if any name is missing. */
export const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce((parent, name) => (isJson(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined), value);

export const textAt = (value: unknown, ...names: string[]): string | undefined => {
  const memberValue = at(value, ...names);
  return typeof memberValue === "string" && memberValue !== "" ? memberValue : undefined;
};

const MAX_NAME_CHARS = 100;

export const nameOf = (company: string, app: string): string => {
  const words = `${company}-${app}`
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word, index, all) => word !== "" && word !== "ai" && word !== all[index - 1]);
  return words.join("-").slice(0, MAX_NAME_CHARS).replace(/-$/, "");
};

/** Returns the UTC date in the format of entries. @param now milliseconds since the epoch */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, "2026-01-01".length);
