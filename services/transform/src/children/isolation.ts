import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Cuts children off the network, where this machine lets us. */

const run = promisify(execFile);
const TRY_MS = 5_000;
/** As root, and as anyone where users may make namespaces. */
const WAYS: readonly (readonly string[])[] = [
  ["unshare", "--net", "--"],
  ["unshare", "--user", "--map-current-user", "--net", "--"],
];

/** What a command begins with so that it runs in a network namespace of its own; empty where that can't be had. */
export const networkIsolation = async (): Promise<readonly string[]> => {
  if (process.platform !== "linux") return [];
  for (const way of WAYS) {
    const [program = "", ...args] = way;
    const works = await run(program, [...args, "true"], { timeout: TRY_MS }).then(
      () => true,
      () => false,
    );
    if (works) return way;
  }
  return [];
};
