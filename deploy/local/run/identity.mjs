import { readFile } from "node:fs/promises";
import { runCommand } from "./child.mjs";

/**
 * Distinguishes a process from a later one with the same id, by start time and command line.
 * @param {number} pid
 * @returns {Promise<string | undefined>} undefined if there is no such process
 */
export const identityOf = async (pid) => {
  if (process.platform !== "linux") {
    const { ok, tail } = await runCommand("ps", ["-o", "lstart=,command=", "-p", String(pid)]);
    return ok && tail !== "" ? tail : undefined;
  }
  try {
    const [status, commandLine] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8"), readFile(`/proc/${pid}/cmdline`, "utf8")]);
    // The command's name, in parentheses, can contain spaces. Later fields can't.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const [state, startedAt] = [fields[0], fields[19]];
    return state === "Z" ? undefined : `${startedAt} ${commandLine.replaceAll("\0", " ").trim()}`;
  } catch {
    return undefined;
  }
};
