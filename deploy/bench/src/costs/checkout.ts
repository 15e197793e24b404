import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../platform";

const run = promisify(execFile);
const SHOWN_DIGITS = 12;

/** Files of another commit, cached. */
export interface Checkout {
  commit: string;
  root: string;
}

/** Unpacks a commit. @throws Error if git or tar fails */
const unpack = async (commit: string, into: string): Promise<void> => {
  const git = spawn("git", ["archive", "--format=tar", commit], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const tar = spawn("tar", ["-x", "-C", into], { stdio: [git.stdout, "inherit", "inherit"] });
  const codes = await Promise.all([git, tar].map((child) => new Promise<number | null>((resolve) => child.once("exit", resolve))));
  if (codes.some((code) => code !== 0)) throw new Error(`${commit} could not be unpacked`);
};

/** Checks a commit out into its own folder. @throws Error for an unknown commit */
export const checkOut = async (name: string): Promise<Checkout> => {
  const { stdout } = await run("git", ["rev-parse", "--verify", "--end-of-options", `${name}^{commit}`], { cwd: ROOT }).catch(() => {
    throw new Error(`there is no commit ${name} here`);
  });
  const commit = stdout.trim().slice(0, SHOWN_DIGITS);
  const root = join(ROOT, ".nodeloom", "bench", commit);
  if (existsSync(root)) return { commit, root };
  const unfinished = `${root}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await unpack(commit, unfinished);
  await rename(unfinished, root);
  return { commit, root };
};
