import { pause, pidOf } from "./platform.mjs";

/** Kills a process of the local platform, which starts it again. @param {string} name @param {(line: string) => void} say @returns {number} its former id */
export const killProcess = (name, say) => {
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
