import { Command, InvalidArgumentError } from "commander";
import { createClient } from "../client";
import { addAliasCommands } from "./aliases";
import { addBatchCommands } from "./batches";
import { addBudgetCommands } from "./budgets";
import { addBundleCommands } from "./bundles";
import { leavesOf, type Commands } from "./command";
import { addCompletionCommand } from "./completion";
import { EXAMPLES } from "./examples";
import { addExecutionCommands } from "./executions";
import { addKeyCommands } from "./keys";
import { addMediaCommands } from "./media";
import { addOrganizationCommands } from "./organizations";
import { EXIT, outcomeOf } from "./outcome";
import { withPrompt } from "./prompt";
import { addRunCommands } from "./run-commands";
import { addHookCommands } from "./hooks";
import { addScheduleCommands } from "./schedules";
import { addSecretCommands } from "./secrets";
import { DEFAULT_URL, loginFile, openClient, removeLogin, writeLogin } from "./settings";
import { createTerminal } from "./terminal";
import { addTestCommand } from "./tests";
import { addWorkflowCommands } from "./workflows";

/** The table of all commands: help, completion and the reference page are made from it. */

const { version } = require("../../package.json") as { version: string };

const JSON_OPTION = ["--json", "JSON lines on stdout, for scripts"] as const;

const number = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0) throw new InvalidArgumentError("It must be a number from 0.");
  return value;
};

const askForKey = (): Promise<string> => withPrompt(async (ask) => (await ask({ label: "API key: ", isSecret: true })).trim());

const addAccountCommands = ({ program, perform }: Commands): void => {
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
    .command("whoami")
    .description("says whose key is used")
    .action(() =>
      perform(async (terminal) => {
        const { email, tier } = await (await openClient()).whoami();
        terminal.table([{ email, tier }], ["email", "tier"]);
      }),
    );
};

const createRoot = (): Command =>
  new Command("nodeloom")
    .description("Runs pipelines and models of a Nodeloom service, and keeps workflows as files.")
    .version(version)
    .option(...JSON_OPTION)
    // Otherwise `--version` of a command would print the version of this program.
    .enablePositionalOptions()
    .showHelpAfterError("Add --help to see its arguments and options.")
    // Commands added below inherit this. The message was printed before.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT.usage))
    .addHelpText(
      "after",
      `
NODELOOM_API_KEY and NODELOOM_BASE_URL override the stored login.
Exit codes: 0 done, 1 the run failed, 2 wrong usage, 3 rejected, 4 the service can't be reached, 130 interrupted.`,
    );

/** The program with all its commands. */
export const createProgram = (): Command => {
  const program = createRoot();
  let isJson = false;
  program.hook("preAction", (_program, command) => {
    isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
  });
  const perform: Commands["perform"] = async (work) => {
    const terminal = createTerminal(isJson, { stdout: process.stdout, stderr: process.stderr, exit: (code) => process.exit(code) });
    try {
      process.exitCode = (await work(terminal)) ?? 0;
    } catch (error) {
      const { exitCode, message } = outcomeOf(error);
      terminal.end(exitCode, message);
    }
  };
  const commands: Commands = { program, perform, number };
  addAccountCommands(commands);
  addRunCommands(commands);
  addExecutionCommands(commands);
  addWorkflowCommands(commands);
  addAliasCommands(commands);
  addTestCommand(commands);
  addBundleCommands(commands);
  addBatchCommands(commands);
  addScheduleCommands(commands);
  addHookCommands(commands);
  addMediaCommands(commands);
  addSecretCommands(commands);
  addBudgetCommands(commands);
  addKeyCommands(commands);
  addOrganizationCommands(commands);
  addCompletionCommand(commands);
  for (const { name, command } of leavesOf(program))
    command.option(...JSON_OPTION).addHelpText("after", `\nExample:\n  ${EXAMPLES[name] ?? ""}`);
  return program;
};
