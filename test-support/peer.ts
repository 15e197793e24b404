import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Longest start of a peer, for the test's time-out. */
export const START_MS = 120_000;
const READY_MS = START_MS - 10_000;
const LOOK_MS = 250;
const OUTPUT_KEPT = 20_000;

/** The Python or program prepared by `npm run drill peers`. */
export const peerOf = (name: string): string => {
  const path = process.env[`PEER_${name.toUpperCase()}`];
  if (!path) throw new Error("run these tests by: npm run drill peers");
  return path;
};

export interface PeerOptions {
  /** Runs calls in a new process. */
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  /** True once it accepts requests. */
  isReady: () => Promise<boolean>;
}

/** Starts another project's server and waits until it is ready. Resolves to its stop function. */
export const startPeer = async ({ command, args, env, cwd, isReady }: PeerOptions): Promise<() => Promise<void>> => {
  // Some peers start "python" themselves, which must be this one.
  const path = `${dirname(command)}:${process.env.PATH}`;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PYTHONUNBUFFERED: "1", ...env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-OUTPUT_KEPT));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    const late = new AbortController();
    const force = delay(5_000, undefined, { signal: late.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
    await exited;
    late.abort();
    await force;
  };
  for (const end = Date.now() + READY_MS; Date.now() < end;) {
    if (child.exitCode !== null) break;
    if (await isReady().catch(() => false)) return stop;
    await delay(LOOK_MS);
  }
  await stop();
  throw new Error(`the peer did not start:\n${output}`);
};
