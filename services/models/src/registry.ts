import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Issue } from "@nodeloom/kernel";
import { type Environment } from "@nodeloom/platform";
import { accountConcurrency } from "@nodeloom/providers";
import { checkEntry } from "./checked-entry";
import type { Entry } from "./entry";
import { resolveEntry, type RegisteredModel } from "./resolved";

export type { RegisteredModel } from "./resolved";

export interface Registry {
  models: ReadonlyMap<string, RegisteredModel>;
  /** Contents of the files. */
  texts: ReadonlyMap<string, string>;
  /** Changes whenever a file or a referenced environment variable changes. */
  version: string;
}

/** Thrown for an unusable registry file. The message names the file and the problem. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  constructor(file: string, problem: string) {
    super(`model registry: ${file}: ${problem}`);
  }
}

const EXTENSION = ".json";
const VERSION_CHARS = 16;

/** @throws RegistryError if entries of one provider account set different concurrency limits */
const checkAccounts = (models: ReadonlyMap<string, RegisteredModel>, env: Environment): void => {
  const accounts = new Map<string, { file: string; says: string }>();
  for (const { internalName, provider } of models.values()) {
    const { auth, baseUrl } = provider;
    if (!auth) continue;
    const file = `${internalName}${EXTENSION}`;
    const { maxConcurrentEnv: variable } = auth;
    if (
      variable !== undefined &&
      env[variable] &&
      accountConcurrency({ auth: { ...auth, maxConcurrent: undefined } }, (name) => env[name]) === undefined
    )
      throw new RegistryError(file, `provider.auth.maxConcurrentEnv: ${variable} must be a whole number from 1 to 99999`);
    const key = `${URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl} ${auth.secretEnv}`;
    const says = JSON.stringify([auth.maxConcurrent, variable]);
    const other = accounts.get(key);
    if (other && other.says !== says)
      throw new RegistryError(
        file,
        `provider.auth: maxConcurrent and maxConcurrentEnv must be those of ${other.file}, which has the same secret`,
      );
    accounts.set(key, { file, says });
  }
};
const problemOf = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");

const parseFile = (file: string, content: string): Entry => {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    throw new RegistryError(file, `is not JSON: ${(error as Error).message}`);
  }
  const checked = checkEntry(json);
  if ("issues" in checked) throw new RegistryError(file, problemOf(checked.issues));
  if (`${checked.entry.internalName}${EXTENSION}` !== file)
    throw new RegistryError(file, `must be named ${checked.entry.internalName}${EXTENSION}`);
  return checked.entry;
};

/**
 * Reads all models of a folder.
 * @throws RegistryError for the first unusable file
 */
export const loadRegistry = async (folder: string, env: Environment): Promise<Registry> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(EXTENSION)).sort();
  const models = new Map<string, RegisteredModel>();
  const texts = new Map<string, string>();
  for (const name of names) {
    const file = basename(name);
    const text = await readFile(join(folder, name), "utf8");
    const resolved = resolveEntry(parseFile(file, text), env);
    if ("issues" in resolved) throw new RegistryError(file, problemOf(resolved.issues));
    models.set(resolved.model.internalName, resolved.model);
    texts.set(resolved.model.internalName, text);
  }
  checkAccounts(models, env);
  const version = createHash("sha256")
    .update(JSON.stringify([...models.values()]))
    .digest("hex")
    .slice(0, VERSION_CHARS);
  return { models, texts, version };
};
