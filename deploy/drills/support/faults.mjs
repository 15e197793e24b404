import { pause, pidOf, readLocal } from "./platform.mjs";

/** Time in which a process that was killed before runs again. */
const BACK_MS = 120_000;

/**
 * Kills a process of the local platform, which starts it again. Waits until it runs, because a drill can kill one twice.
 * @param {string} name @param {(line: string) => void} say @returns {Promise<number>} its former id
 */
export const killProcess = async (name, say) => {
  for (const end = Date.now() + BACK_MS; !readLocal().pids[name] && Date.now() < end;) await pause(100);
  const pid = pidOf(name);
  process.kill(pid, "SIGKILL");
  say(`SIGKILL ${name} (${pid})`);
  return pid;
};

/** Stops a process for a time, like a machine that doesn't answer. @param {number} pid @param {number} forMs */
export const stopProcess = async (pid, forMs) => {
  process.kill(pid, "SIGSTOP");
  try {
    await pause(forMs);
  } finally {
    process.kill(pid, "SIGCONT");
  }
};
