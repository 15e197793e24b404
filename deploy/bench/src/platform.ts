import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createApiClient } from "./http";

/** Root of this checkout. */
export const ROOT = join(__dirname, "..", "..", "..");
const stateOf = (root: string, { NODELOOM_STATE_DIR = ".nodeloom" }: NodeJS.ProcessEnv): string => resolve(root, NODELOOM_STATE_DIR);
/** Printed by the launcher when all services run and the data is seeded. */
const UP = "Nodeloom is up";
/** A new checkout installs and builds first. */
const START_DEADLINE_MS = 300_000;
const SHOWN_CHARACTERS = 2_000;

/** Members of the launcher's state file that the benchmark reads. */
export interface LocalPlatform {
  baseUrl: string;
  temporalAddress: string;
  /** Process ids by service. */
  pids: Partial<Record<string, number>>;
  accounts: Partial<Record<string, { userId: string; apiKey?: string }>>;
}

export interface PlatformUnderTest {
  local: LocalPlatform;
  /** True if it was already running. */
  found: boolean;
  stop(): Promise<void>;
}

export const keyOf = ({ accounts }: LocalPlatform, account: string): string => {
  const key = accounts[account]?.apiKey;
  if (key === undefined) throw new Error(`the local platform has no key for the ${account} account`);
  return key;
};

/** @param state folder of a platform that runs or ran */
const readLocal = async (state: string): Promise<LocalPlatform | undefined> => {
  try {
    return JSON.parse(await readFile(join(state, "local.json"), "utf8")) as LocalPlatform;
  } catch {
    return undefined;
  }
};

const isAlive = async (local: LocalPlatform, signal: AbortSignal): Promise<boolean> => {
  const key = local.accounts.enterprise?.apiKey;
  if (key === undefined) return false;
  const api = createApiClient(local.baseUrl, key, signal);
  try {
    const answers = await Promise.all([api.call("GET", "/readyz"), api.call("GET", "/api/whoami")]);
    return answers.every(({ status }) => status === 200);
  } catch {
    return false;
  } finally {
    api.close();
  }
};

/**
 * Resolves when the launcher reports that all services are up. @throws Error with the launcher's last lines if it ends or takes too long
 */
const untilUp = (launcher: ChildProcess, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    let printed = "";
    const finish = (problem?: string): void => {
      clearTimeout(timer);
      launcher.off("exit", onExit);
      if (problem === undefined) resolve();
      else reject(new Error(`${problem}:\n${printed.slice(-SHOWN_CHARACTERS)}`));
    };
    const onExit = (): void => finish("the local platform did not start");
    const timer = setTimeout(() => finish(`the local platform was not up within ${START_DEADLINE_MS / 1_000} s`), START_DEADLINE_MS);
    launcher.once("exit", onExit);
    signal.addEventListener("abort", () => finish("called off"), { once: true });
    for (const stream of [launcher.stdout, launcher.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        printed += chunk.toString("utf8");
        if (printed.includes(UP)) finish();
      });
    }
  });

/**
 * Starts the platform of a checkout.
 * @param environment additional variables
 * @throws Error if a platform already runs in the checkout
 */
export const launch = async (root: string, signal: AbortSignal, environment: NodeJS.ProcessEnv = {}): Promise<PlatformUnderTest> => {
  const start = join(root, "deploy", "local", "start.mjs");
  const launcher = spawn(process.execPath, [start], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LOCAL_MODELS: "off", SEED_TEMPLATES: "off", ...environment },
  });
  const exit = new Promise<void>((resolve) => launcher.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    if (launcher.exitCode === null && launcher.signalCode === null) launcher.kill("SIGTERM");
    await exit;
  };
  try {
    await untilUp(launcher, signal);
    const local = await readLocal(stateOf(root, environment));
    if (!local || !(await isAlive(local, signal))) throw new Error("the local platform does not answer");
    return { local, found: false, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Uses the running platform, or starts one with additional variables and stops it at the end. */
export const usePlatform = async (signal: AbortSignal, environment: NodeJS.ProcessEnv = {}): Promise<PlatformUnderTest> => {
  const local = await readLocal(stateOf(ROOT, {}));
  if (local && (await isAlive(local, signal))) return { local, found: true, stop: () => Promise.resolve() };
  return launch(ROOT, signal, environment);
};
