import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createClient, type Client } from "../client";
import { Refusal } from "./outcome";

/** Key and address of the service. */

export interface Login {
  baseUrl: string;
  apiKey: string;
}

export const DEFAULT_URL = "http://127.0.0.1:8080";

type Environment = Readonly<Record<string, string | undefined>>;

/** File written by `nodeloom login`, readable by its owner only. */
export const loginFile = (env: Environment = process.env): string =>
  join(env.XDG_CONFIG_HOME ?? join(homedir(), ".config"), "nodeloom", "login.json");

const stored = async (env: Environment): Promise<Partial<Login>> => {
  try {
    return JSON.parse(await readFile(loginFile(env), "utf8")) as Partial<Login>;
  } catch {
    return {};
  }
};

export const readBaseUrl = async (env: Environment = process.env): Promise<string> =>
  env.NODELOOM_BASE_URL ?? (await stored(env)).baseUrl ?? DEFAULT_URL;

/** The stored login, overridden by NODELOOM_API_KEY and NODELOOM_BASE_URL. @throws Refusal without a key */
export const readLogin = async (env: Environment = process.env): Promise<Login> => {
  const { baseUrl = DEFAULT_URL, apiKey } = await stored(env);
  const key = env.NODELOOM_API_KEY ?? apiKey;
  if (key === undefined) throw new Refusal("there is no API key: run `nodeloom login`, or set NODELOOM_API_KEY");
  return { baseUrl: env.NODELOOM_BASE_URL ?? baseUrl, apiKey: key };
};

export const writeLogin = async (login: Login, env: Environment = process.env): Promise<string> => {
  const file = loginFile(env);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return file;
};

export const removeLogin = (env: Environment = process.env): Promise<void> => rm(loginFile(env), { force: true });

/** @throws Refusal without a key */
export const openClient = async (): Promise<Client> => createClient(await readLogin());
