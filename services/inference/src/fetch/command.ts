import { spawn } from "node:child_process";

/** Runs package managers. */

const TAIL_CHARACTERS = 4_000;
const TAIL_LINES = 4;
/** Variables that npm sets for scripts. Another npm process would use them as its settings. */
const CALLERS = /^npm_(package_|lifecycle_|config_local_prefix|config_prefix|command|execpath)/i;

const environment = (): NodeJS.ProcessEnv => Object.fromEntries(Object.entries(process.env).filter(([name]) => !CALLERS.test(name)));

export interface CommandOptions {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** @throws Error with the end of the command's output */
export const runCommand = async (
  command: string,
  args: readonly string[],
  { cwd, env, timeoutMs, signal }: CommandOptions,
): Promise<void> => {
  const child = spawn(command, args, {
    cwd,
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    ...(signal ? { signal } : {}),
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => (printed = (printed + piece.toString()).slice(-TAIL_CHARACTERS)));
  const how = await new Promise<string | number | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, killed) => resolve(killed ?? code));
  });
  if (how === 0) return;
  const last = printed.trim().split("\n").slice(-TAIL_LINES).join(" ");
  throw new Error(`${command} ${args.slice(0, 2).join(" ")} ended with ${how}${last === "" ? "" : `: ${last}`}`);
};
