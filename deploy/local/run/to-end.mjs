import { spawn } from "node:child_process";

/**
 * Runs a command to its end; returns its output, or shows it with `inherit`.
 * @param {string} command @param {readonly string[]} args @param {{ cwd: string, inherit?: boolean, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export const runToEnd = (command, args, { cwd, inherit = false, env = process.env }) =>
  new Promise((resolve) => {
    const shown = inherit ? "inherit" : "pipe";
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", shown, shown] });
    /** @type {Buffer[]} */
    const output = [];
    const keep = (/** @type {Buffer} */ chunk) => void output.push(chunk);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.once("error", (error) => resolve({ code: 1, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString("utf8") }));
  });
