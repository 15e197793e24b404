import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { strictSchemaProblems } from "@nodeloom/kernel";
import { accountConcurrency, type Environment, type ProviderSettings } from "@nodeloom/platform";
import { z } from "zod";
import { entrySchema, type Entry } from "./entry";
import { pricingProblem } from "./pricing";

/** A model as its file and the environment describe it. */
export interface RegisteredModel extends Entry {
  /** Environment variables without which it can't run; it is disabled while there are any. */
  missing: string[];
}

export interface Registry {
  models: ReadonlyMap<string, RegisteredModel>;
  /** Differs whenever a file or the environment it refers to does. */
  version: string;
}

/** A registry file can't be used. The message names the file and the problem. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  constructor(file: string, problem: string) {
    super(`model registry: ${file}: ${problem}`);
  }
}

const EXTENSION = ".json";
const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g;
const VERSION_CHARS = 16;

/** @throws RegistryError where entries of one account don't agree on how many calls it takes at once */
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

const parseFile = (file: string, content: string): Entry => {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    throw new RegistryError(file, `is not JSON: ${(error as Error).message}`);
  }
  const parsed = entrySchema.safeParse(json);
  if (!parsed.success) throw new RegistryError(file, z.prettifyError(parsed.error));
  if (`${parsed.data.internalName}${EXTENSION}` !== file)
    throw new RegistryError(file, `must be named ${parsed.data.internalName}${EXTENSION}`);
  return parsed.data;
};

const checkInputs = (file: string, { inputSchema, price }: Entry): void => {
  const [mistake] = strictSchemaProblems(inputSchema);
  if (mistake !== undefined) throw new RegistryError(file, `inputSchema: ${mistake}`);
  const problem = pricingProblem(price, inputSchema);
  if (problem) throw new RegistryError(file, `price: ${problem}`);
};

const resolveProvider = (file: string, provider: ProviderSettings, env: Environment): { provider: ProviderSettings; missing: string[] } => {
  const missing: string[] = [];
  const resolved = (name: string, template: string): string => {
    const before = missing.length;
    const url = template.replaceAll(PLACEHOLDER, (_, variable: string) => {
      if (!env[variable]) missing.push(variable);
      return env[variable]?.replace(/\/+$/, "") ?? "";
    });
    const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (missing.length === before && !isUsable) throw new RegistryError(file, `provider.${name} is no http(s) URL: ${url}`);
    return url.replace(/\/+$/, "");
  };
  const { upload, auth } = provider;
  const baseUrl = resolved("baseUrl", provider.baseUrl);
  const uploadUrl = upload?.baseUrl === undefined ? undefined : resolved("upload.baseUrl", upload.baseUrl);
  if (auth && auth.default === undefined && !env[auth.secretEnv]) missing.push(auth.secretEnv);
  const stored = upload && uploadUrl !== undefined ? { upload: { ...upload, baseUrl: uploadUrl } } : {};
  return { provider: { ...provider, baseUrl, ...stored }, missing: [...new Set(missing)] };
};

/**
 * Reads every model of a folder.
 * @throws RegistryError for the first file that can't be used.
 */
export const loadRegistry = async (folder: string, env: Environment): Promise<Registry> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(EXTENSION)).sort();
  const models = new Map<string, RegisteredModel>();
  for (const name of names) {
    const file = basename(name);
    const entry = parseFile(file, await readFile(join(folder, name), "utf8"));
    checkInputs(file, entry);
    models.set(entry.internalName, { ...entry, ...resolveProvider(file, entry.provider, env) });
  }
  checkAccounts(models, env);
  const version = createHash("sha256")
    .update(JSON.stringify([...models.values()]))
    .digest("hex")
    .slice(0, VERSION_CHARS);
  return { models, version };
};
