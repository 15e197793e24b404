import type { Issue } from "@nodeloom/kernel";
import type { MODALITIES } from "../entry";

/** Entries that are made from what providers publish. */

export type Modality = (typeof MODALITIES)[number];
export type Json = Readonly<Record<string, unknown>>;

export interface Draft {
  /** An entry; what is missing in it, such as a price, is null. */
  entry: Json;
  /** What could not be carried over, in words. */
  notes: string[];
}

export interface ImportRequest {
  /** The provider's name of the model. */
  app: string;
  internalName?: string | undefined;
  modality?: Modality | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

export interface Auth {
  header: string;
  scheme: string;
  secretEnv: string;
}

/** What providers publish. */
export interface Published {
  /** @throws DomainError where it can't be had */
  json(address: string, auth?: Auth): Promise<unknown>;
}

/** What can't be imported, by its place in the request. */
export class ImportProblem extends Error {
  override readonly name = "ImportProblem";
  constructor(readonly issue: Issue) {
    super(issue.message);
  }
}

export const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** What stands under some names in JSON; undefined where one of them is not there. */
export const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce((found, name) => (isJson(found) && Object.hasOwn(found, name) ? found[name] : undefined), value);

export const textAt = (value: unknown, ...names: string[]): string | undefined => {
  const found = at(value, ...names);
  return typeof found === "string" && found !== "" ? found : undefined;
};

const MAX_NAME_CHARS = 100;

/** An internal name for a provider's model. */
export const nameOf = (company: string, app: string): string => {
  const words = `${company}-${app}`
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word, index, all) => word !== "" && word !== "ai" && word !== all[index - 1]);
  return words.join("-").slice(0, MAX_NAME_CHARS).replace(/-$/, "");
};

/** The day of a time, as entries write it. @param now milliseconds since 1970 */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, "2026-01-01".length);
