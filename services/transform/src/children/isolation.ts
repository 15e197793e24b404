import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Disconnects child processes from the network, if the machine allows it. */

const run = promisify(execFile);
const TRY_MS = 5_000;
/** Commands for root, and for other users if user namespaces are enabled. */
const WAYS: readonly (readonly string[])[] = [
  ["unshare", "--net", "--"],
  ["unshare", "--user", "--map-current-user", "--net", "--"],
];

/** Returns a command prefix for a separate network namespace; empty if none is available. */
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
