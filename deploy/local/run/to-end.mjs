import { spawn } from "node:child_process";

/**
 * Runs a command to its end. Returns its output, or prints it with `inherit`.
 * @param {string} command @param {readonly string[]} args @param {{ cwd: string, inherit?: boolean, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export const runToEnd = (command, args, { cwd, inherit = false, env = process.env }) =>
  new Promise((resolve) => {
    const outputMode = inherit ? "inherit" : "pipe";
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", outputMode, outputMode] });
    /** @type {Buffer[]} */
    const output = [];
    const keep = (/** @type {Buffer} */ chunk) => void output.push(chunk);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.once("error", (error) => resolve({ code: 1, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString("utf8") }));
  });

/** Lines of a failed command's output in the error. */
const LAST_LINES = 30;

/**
 * Runs a command that must succeed. @throws Error with the end of its output
 * @param {string} command @param {readonly string[]} args @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<string>} its output
 */
export const runToSuccess = async (command, args, options) => {
  const { code, output } = await runToEnd(command, args, options);
  const called = `${command} ${args.join(" ")}`.slice(0, 200);
  if (code !== 0) throw new Error(`${called} exits with ${code}:\n${output.split("\n").slice(-LAST_LINES).join("\n")}`);
  return output.trim();
};
