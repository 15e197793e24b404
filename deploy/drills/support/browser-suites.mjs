import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../local/paths.mjs";

const PLAYWRIGHT = join(ROOT, "node_modules", "@playwright", "test", "cli.js");

/**
 * Runs the suites of gateway/console/e2e with the drill's options: files, `-g <title>`, `--project=<name>`.
 * @param {readonly string[]} projects projects to run if the options name none
 */
export const runBrowserSuites = (projects) => {
  const options = process.argv.slice(2);
  const projectOptions = options.some((option) => option.startsWith("--project")) ? [] : projects.map((name) => `--project=${name}`);
  const child = spawn(process.execPath, [PLAYWRIGHT, "test", "--config", "gateway/console", ...projectOptions, ...options], {
    cwd: ROOT,
    stdio: "inherit",
  });
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.once("exit", (code) => {
    process.exitCode = code ?? 1;
  });
};
