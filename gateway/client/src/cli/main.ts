import { Command, InvalidArgumentError, Option } from "commander";
import { createClient } from "../client";
import { addAliasCommands } from "./aliases";
import { addBundleCommands } from "./bundles";
import { addExecutionCommands } from "./executions";
import { addKeyCommands } from "./keys";
import { EXIT, outcomeOf } from "./outcome";
import { withPrompt } from "./prompt";
import { follow, run, type RunOptions } from "./run";
import { importFiles } from "./import";
import { saveFiles } from "./results";
import { DEFAULT_URL, loginFile, openClient, removeLogin, writeLogin } from "./settings";
import { createTerminal, type Terminal } from "./terminal";
import { addTestCommand } from "./tests";
import { diff, pull, push } from "./workflow-files";

const { version } = require("../../package.json") as { version: string };

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError("It is no number from 0.");
  return value;
};

const program = new Command("nodeloom")
  .description("Runs pipelines and models of a Nodeloom service, and keeps workflows as files.")
  .version(version)
  .addOption(new Option("--json", "JSON lines on stdout, for scripts"))
  // Commands added below inherit this. Commander has already printed the message.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT.usage))
  .addHelpText(
    "after",
    `
NODELOOM_API_KEY and NODELOOM_BASE_URL are used instead of the login where they are set.
Exit codes: 0 done, 1 the run failed, 2 wrong use, 3 refused, 4 the service can't be reached, 130 interrupted.`,
  );

const terminalOf = (): Terminal =>
  createTerminal(program.opts<{ json?: boolean }>().json === true, {
    stdout: process.stdout,
    stderr: process.stderr,
    exit: (code) => process.exit(code),
  });

/** A reader such as `head` can close the pipe early, which isn't an error. */
const endWithReader = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
};
process.stdout.on("error", endWithReader);
process.stderr.on("error", endWithReader);

/** Runs a command and sets the exit code. */
const perform = async (work: (terminal: Terminal) => Promise<number | void>): Promise<void> => {
  const terminal = terminalOf();
  try {
    process.exitCode = (await work(terminal)) ?? 0;
  } catch (error) {
    const { exitCode, message } = outcomeOf(error);
    terminal.end(exitCode, message);
  }
};

const askForKey = (): Promise<string> => withPrompt(async (ask) => (await ask({ label: "API key: ", isSecret: true })).trim());

program
  .command("login")
  .description("keeps an API key, from the prompt or stdin, for later commands")
  .option("--url <address>", "where the service is", process.env.NODELOOM_BASE_URL ?? DEFAULT_URL)
  .action(({ url }: { url: string }) =>
    perform(async (terminal) => {
      const login = { baseUrl: url, apiKey: await askForKey() };
      const { email } = await createClient(login).whoami();
      terminal.note(`signed in as ${email}; the key is in ${await writeLogin(login)}`);
    }),
  );

program
  .command("logout")
  .description("forgets the API key")
  .action(() =>
    perform(async (terminal) => {
      await removeLogin();
      terminal.note(`removed ${loginFile()}`);
    }),
  );

program
  .command("run")
  .argument("<target>", "a workflow's slug, or model:<name>")
  .argument("[inputs...]", "name=text, name=@file, name:=json")
  .description("prices a run, runs it, shows its progress; Ctrl-C cancels it")
  .option("-o, --output <path>", "save its file there; a folder (ending with /) takes all")
  .option("--max-credits <n>", "refuse a run that could cost more", number)
  .option("--until <node>", "run only that node of a workflow and what it needs")
  .option("--alias <name>", "run the version of this alias, such as staging")
  .option("--idempotency-key <key>", "the same key and inputs run once")
  .option("--webhook <url>", "send the end of the run there")
  .option("--webhook-events <list>", "events for --webhook, such as execution.completed,execution.waiting")
  .action((target: string, inputs: string[], options: RunOptions) =>
    perform(async (terminal) => run(await openClient(), target, inputs, options, terminal)),
  );

program
  .command("watch")
  .argument("<execution>", "an execution's id")
  .description("follows a run to its end")
  .option("-o, --output <path>", "save its files there")
  .action((executionId: string, { output }: { output?: string }) =>
    perform(async (terminal) => {
      const outcome = await follow(await openClient(), executionId, terminal);
      terminal.result(outcome, output === undefined ? [] : await saveFiles(outcome.result, output));
    }),
  );

const workflows = program.command("workflows").description("saved workflows, also as files");
workflows
  .command("list")
  .description("lists your workflows and templates")
  .action(() =>
    perform(async (terminal) => {
      const rows = await (await openClient()).workflows.list();
      terminal.table(rows as unknown as Record<string, unknown>[], ["slug", "name", "estimatedCreditCost", "updatedAt"]);
    }),
  );
workflows
  .command("pull")
  .argument("[slugs...]", "all of yours when none is given")
  .option("-d, --dir <folder>", "where the files are", ".")
  .description("writes workflows to <slug>.json")
  .action((slugs: string[], { dir }: { dir: string }) => perform(async (terminal) => pull(await openClient(), slugs, dir, terminal)));
workflows
  .command("push")
  .argument("<files...>")
  .option("--force", "also where the workflow has changed since it was pulled")
  .description("saves files as the workflows of their names")
  .action((files: string[], { force = false }: { force?: boolean }) =>
    perform(async (terminal) => push(await openClient(), files, force, terminal)),
  );
workflows
  .command("import")
  .argument("<files...>", "JSON files of ComfyUI, or PNG and WebP files that it saved")
  .description("creates workflows from those of ComfyUI")
  .action((files: string[]) => perform(async (terminal) => importFiles(await openClient(), files, terminal)));
workflows
  .command("diff")
  .argument("<files...>")
  .description("says in what files and their workflows differ; exit code 1 where they do")
  .action((files: string[]) => perform(async (terminal) => ((await diff(await openClient(), files, terminal)) ? 1 : 0)));

addAliasCommands(program, perform, number);
addTestCommand(program, perform);
addBundleCommands(program, perform);
addKeyCommands(program, perform, number);
addExecutionCommands(program, perform);

program
  .command("models")
  .description("lists the models that you may run")
  .action(() =>
    perform(async (terminal) => {
      const rows = await (await openClient()).models.list();
      terminal.table(rows as unknown as Record<string, unknown>[], ["internalName", "modality", "status", "displayName"]);
    }),
  );

program
  .command("usage")
  .description("lists your newest runs and what they cost")
  .option("--limit <n>", "how many", number, 20)
  .action(({ limit }: { limit: number }) =>
    perform(async (terminal) => {
      const { rows } = await (await openClient()).usage.list({ limit });
      terminal.table(rows as unknown as Record<string, unknown>[], ["createdAt", "modelIds", "status", "creditsCost"]);
    }),
  );

program
  .command("whoami")
  .description("says whose key is used")
  .action(() =>
    perform(async (terminal) => {
      const { email, tier } = await (await openClient()).whoami();
      terminal.table([{ email, tier }], ["email", "tier"]);
    }),
  );

void program.parseAsync();
