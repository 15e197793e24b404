import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FILES } from "./sources";

/** Fetches the newest packages of all sources through npm and pip, with their own settings. No code of a package runs. */

const COMMAND_MS = 300_000;
const NPM_PACKAGES = { fal: "@fal-ai/client", runway: "@runwayml/sdk" } as const;

const run = (command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: COMMAND_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`);
  return stdout;
};

const unpackNpm = (folder: string, name: string, target: string): void => {
  run("npm", ["pack", `${name}@latest`, "--silent"], folder);
  const archive = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm pack ${name} wrote no archive`);
  mkdirSync(join(folder, target));
  run("tar", ["-xzf", archive, "-C", target, "--strip-components=1"], folder);
  rmSync(join(folder, archive));
};

const EXTRACT = `import sys, zipfile
wheel, file, target = sys.argv[1:]
open(target, "wb").write(zipfile.ZipFile(wheel).read("litellm/" + file))`;

const unpackLiteLlm = (folder: string): void => {
  const target = join(folder, FILES.litellm.folder);
  mkdirSync(target);
  run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", ".", "litellm"], folder);
  const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) throw new Error("pip download wrote no wheel of litellm");
  run("python3", ["-c", EXTRACT, wheel, FILES.litellm.file, join(target, FILES.litellm.file)], folder);
  writeFileSync(join(target, "version"), `${wheel.split("-")[1]}\n`);
  rmSync(join(folder, wheel));
};

/** Fetches all sources into an empty folder. @throws Error if a registry can't be reached */
export const fetchSources = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [target, name] of Object.entries(NPM_PACKAGES)) unpackNpm(folder, name, target);
  unpackLiteLlm(folder);
};
