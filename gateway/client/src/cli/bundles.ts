import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { unzipSync, zipSync } from "fflate";
import type { BundleImport } from "../api-types";
import { sleep } from "../sleep";
import { printRows, type Commands } from "./command";
import { EXIT, Refusal } from "./outcome";
import { withPrompt } from "./prompt";
import { openClient } from "./settings";
import type { Terminal } from "./terminal";

/** `nodeloom export` and `nodeloom deploy`: workflows with their files as a folder for version control, or as one archive. */

const ZIP = ".zip";
/** Names of the parts of a bundle. Other names in an archive are never used as paths. */
const PART = /^(?:bundle\.json|(?:workflows|files)\/[A-Za-z0-9][A-Za-z0-9._-]*)$/;
const FOLDERS = ["workflows", "files"];
const APPLYING_PAUSE_MS = 1_000;
/** Maximum number of requests for one import; each waits for up to a minute. */
const MAX_WAITS = 60;

const exportBundle = async (slugs: readonly string[], output: string, terminal: Terminal): Promise<void> => {
  const bytes = await (await openClient()).bundles.export(slugs);
  if (extname(output) === ZIP) {
    await writeFile(output, bytes);
    return terminal.text(`${output}\n`);
  }
  for (const [name, content] of Object.entries(unzipSync(bytes))) {
    if (!PART.test(name)) throw new Refusal(`the archive has the entry ${name}, which isn't part of a bundle`, EXIT.refused);
    const path = join(output, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    terminal.text(`${path}\n`);
  }
};

const partsIn = async (folder: string): Promise<string[]> => {
  const paths: string[] = [];
  for (const part of FOLDERS) {
    const names = await readdir(join(folder, part)).catch(() => []);
    paths.push(...names.filter((name) => !name.startsWith(".")).map((name) => `${part}/${name}`));
  }
  return paths.sort();
};

/** Reads an archive as it is, or a folder as an archive. */
const packed = async (path: string): Promise<Uint8Array<ArrayBuffer>> => {
  const kind = await stat(path).catch((error: Error) => {
    throw new Refusal(`${path} can't be read: ${error.message}`);
  });
  if (!kind.isDirectory()) return new Uint8Array(await readFile(path));
  const names = await partsIn(path);
  if (!names.some((name) => name.startsWith("workflows/"))) throw new Refusal(`${path} has no workflows/<name>.json`);
  const contents = await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(path, name)))] as const));
  return new Uint8Array(zipSync(Object.fromEntries(contents)));
};

const show = ({ workflows, files, ignored }: BundleImport, terminal: Terminal): void => {
  printRows(terminal, workflows, ["action", "name", "slug", "version", "reason"]);
  if (files.length > 0) terminal.note(`files: ${files.join(", ")}`);
  for (const part of ignored) terminal.note(`ignored: ${part}`);
  for (const { name, problems = [] } of workflows) for (const problem of problems) terminal.note(`${name} can't run: ${problem}`);
};

interface DeployOptions {
  alias?: string;
  dryRun?: true;
  overwrite?: true;
  yes?: true;
}

const confirm = async (): Promise<void> => {
  const answer = await withPrompt((ask) => ask({ label: "Deploy this? [y/N] ", isSecret: false }));
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new Refusal("nothing was deployed; --yes deploys without this question", EXIT.refused);
};

const deploy = async (path: string, { alias, dryRun, overwrite, yes }: DeployOptions, terminal: Terminal): Promise<number | void> => {
  const [client, bundle] = [await openClient(), await packed(path)];
  const plan = await client.bundles.import(bundle, { dryRun: true, alias, overwrite });
  show(plan, terminal);
  const conflicts = plan.workflows.filter(({ action }) => action === "conflict");
  if (conflicts.length > 0) {
    throw new Refusal(`${conflicts.length} in conflict: export and merge them, or deploy with --overwrite`, EXIT.refused);
  }
  if (dryRun) return;
  // With an alias, the import can still have to move it.
  if (alias === undefined && plan.workflows.every(({ action }) => action === "unchanged"))
    return terminal.note("nothing to deploy: the drafts are as in the bundle");
  if (!yes) await confirm();
  const order = { alias, overwrite, planId: plan.planId };
  let result = await client.bundles.import(bundle, order);
  for (let waits = 0; result.state === "applying"; waits += 1) {
    if (waits === MAX_WAITS) throw new Refusal(`the import ${plan.planId} is still under way`, EXIT.failed);
    await sleep(APPLYING_PAUSE_MS);
    result = await client.bundles.import(bundle, order);
  }
  terminal.note(alias === undefined ? "deployed to the drafts" : `deployed to ${alias}`);
  show(result, terminal);
};

export const addBundleCommands = ({ program, perform }: Commands): void => {
  program
    .command("export")
    .argument("<workflows...>", "their slugs")
    .option("-o, --output <path>", "a folder, or a file that ends with .zip", ".")
    .description("writes workflows, those inside them and their files to a folder for version control")
    .action((slugs: string[], { output }: { output: string }) => perform((terminal) => exportBundle(slugs, output, terminal)));
  program
    .command("deploy")
    .argument("<path>", "a folder with workflows/<name>.json and files, or a .zip file")
    .option("--alias <name>", "publish each workflow and point this alias to it, such as staging; without it, only drafts change")
    .option("--dry-run", "only print the plan")
    .option("--overwrite", "replace workflows that were changed since the last deploy")
    .option("-y, --yes", "don't ask")
    .description("prints what changes, asks, and creates and updates the workflows")
    .action((path: string, options: DeployOptions) => perform((terminal) => deploy(path, options, terminal)));
};
